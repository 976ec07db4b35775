//! One listing: rows of a hub, of several, or of files, asked once or followed, sorted, and printed.
//! A command says which rows there are, and what a person and a program see of each.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::gather::hubs::{
    AllRows, FollowCall, FollowedReading, HubGap, HubMoments, HubRows, HubsArgs, NotReached,
};
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::selection::{ListReach, RunSelection};
use crate::commands::gather::session::Session;
use crate::commands::output::Output;
use crate::commands::show::watch_view::{self, ItemNow, ListNow, WatchArgs};
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::ObjectRef;
use crate::render::table::{Column, Table, TableOf};
use crate::report::TypeMeta;
use crate::ui::Ui;

/// The flags of every listing.
#[derive(Debug, Clone, Args)]
pub(in crate::commands) struct ListingArgs {
    #[command(flatten)]
    pub selection: RunSelection,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    hubs: HubsArgs,
}

/// The document of a listing.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}List")]
pub struct ItemList<T> {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The items, by scope, namespace and run, gates in the order of the run's stages; of several
    /// hubs, first by hub in the order in which the hubs were named.
    items: Vec<T>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<HubGap>,
    /// The hubs that did not answer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_reached: Vec<NotReached>,
}

/// A row, and the context of its hub where several were asked.
pub(super) type HubRow<R> = (Option<String>, R);

pub(super) trait ListCommand: Clone + Send + Sync + 'static {
    /// The command that hints name.
    const COMMAND: &'static str;
    const NOUN: &'static str;
    type Row: Clone + Send + 'static;
    /// What programs get of a row.
    type Item: Serialize + JsonSchema;

    fn flags(&self) -> &ListingArgs;

    /// Refuses what cannot be listed within a reach.
    fn check(&self, _reach: &ListReach) -> Result<(), Error> {
        Ok(())
    }

    /// The rows within a reach, of one hub or of files.
    fn read(
        &self,
        reading: &mut SourceReading,
        reach: &ListReach,
    ) -> Result<HubRows<Self::Row>, Error>;

    fn none(&self, reading: &mut SourceReading, reach: &ListReach) -> Result<String, Error>;

    fn sort(&self, _rows: &mut [HubRow<Self::Row>]) {}

    /// What tells a row from the others of its hub.
    fn key(row: &Self::Row) -> String;
    fn namespace(row: &Self::Row) -> &str;
    /// The object that a row is about, where it exists.
    fn object(row: &Self::Row) -> Option<ObjectRef>;
    fn item(row: &HubRow<Self::Row>) -> Self::Item;

    /// Adds the columns, behind those for the hub and the namespace.
    fn columns<'t>(
        &self,
        table: TableOf<'t, HubRow<Self::Row>>,
        now: &'t HubMoments,
        ui: &'t Ui,
    ) -> TableOf<'t, HubRow<Self::Row>>;

    fn hint(_rows: &[HubRow<Self::Row>], _ui: &mut Ui) {}
}

pub(super) fn run<L: ListCommand>(listing: &L, session: &mut Session<'_>) -> Result<Exit, Error> {
    let flags = listing.flags();
    let is_followed = flags.watch.is_on(&flags.output)?;
    let names = flags.selection.names();
    let contexts = &flags.hubs.contexts;
    contexts.check_list(&flags.output, names, session.global)?;
    if is_followed {
        return follow(listing, session);
    }
    let input = Some(&flags.input);
    let answers = session.ask(&flags.hubs, input, L::COMMAND, |reading, ui| {
        let reach = flags.selection.reach(reading, ui)?;
        listing.check(&reach)?;
        let mut rows = listing.read(reading, &reach)?;
        if rows.rows.is_empty() {
            rows.none = Some(listing.none(reading, &reach)?);
        }
        Ok(rows)
    })?;
    let (answers, mut listed) = answers.listed(session.ui);
    listing.sort(&mut listed.rows);
    let is_several = answers.is_several();
    flags.output.print(
        session.ui,
        |output, ui| output.draw(&table(listing, &listed, is_several, ui), ui),
        listed.rows.iter().filter_map(|(_, row)| L::object(row)),
        || ItemList {
            meta: TypeMeta::new(format!("{}List", L::Item::schema_name())),
            items: listed.rows.iter().map(L::item).collect(),
            not_checked: listed.gaps.clone(),
            not_reached: answers.not_reached.clone(),
        },
    )?;
    if flags.output.is_table() {
        L::hint(&listed.rows, session.ui);
    }
    answers.tell(session.ui);
    Ok(answers.exit(Exit::Done))
}

fn follow<L: ListCommand>(listing: &L, session: &mut Session<'_>) -> Result<Exit, Error> {
    let flags = listing.flags();
    flags.hubs.check_watch()?;
    let call = FollowCall {
        of: &flags.hubs.contexts,
        input: Some(&flags.input),
        limit: None,
        command: L::COMMAND,
    };
    let own = listing.clone();
    let mut place = None;
    let followed = session.follow(&call, &mut place, move |reading, ui| {
        let reach = own.flags().selection.reach(reading, ui)?;
        own.check(&reach)?;
        let own = own.clone();
        let look = move |reading: &mut SourceReading| {
            let mut rows = own.read(reading, &reach)?;
            if rows.rows.is_empty() {
                // What exists elsewhere is not asked again and again.
                rows.none = Some(format!("{} has no such {}", reading.place(), L::NOUN));
            }
            Ok(rows)
        };
        Ok(Box::new(FollowedReading::new(reading, look)?))
    })?;
    let is_several = followed.is_several();
    let show = |mut listed: AllRows<L::Row>, ui: &Ui| {
        listing.sort(&mut listed.rows);
        let items = listed.rows.iter().map(|row| {
            let (hub, own) = row;
            ItemNow::new(hub.clone(), L::key(own), L::object(own), L::item(row))
        });
        Ok(ListNow {
            items: items.collect::<Result<_, _>>()?,
            table: table(listing, &listed, is_several, ui),
        })
    };
    watch_view::follow(&flags.watch, &flags.output, followed, session.ui, show)
}

fn table<L: ListCommand>(
    listing: &L,
    listed: &AllRows<L::Row>,
    is_several: bool,
    ui: &Ui,
) -> Table {
    let table = Table::of(&listed.rows)
        .column_if(is_several, Column::shrinking("HUB", 6), |(hub, _)| {
            hub.as_ref()
        })
        .column_if(
            listed.is_everywhere,
            Column::shrinking("NAMESPACE", 9),
            |(_, row)| L::namespace(row),
        );
    listing.columns(table, &listed.now, ui).table()
}
