// The pages of `diagnose -o html` and `status -o html` in a real browser: for those who see them in
// the light or in the dark, on a phone or on paper, and for those who hear them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { fleet } from './fleet.js';

const root = resolve(fileURLToPath(import.meta.url), '../../..');
const binary = process.env.FLEET_STAGE_BINARY ?? join(root, 'target/debug/kubectl-fleet-stage');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
// A folder for pictures of the pages, for people to look at.
const pictures = process.env.FLEET_STAGE_PICTURES;

const folder = mkdtempSync(join(tmpdir(), 'pages-'));
const example = (name) => ['-f', join(root, 'examples', name)];
const run = 'csur/example-run';
const large = fleet();
writeFileSync(join(folder, 'fleet.json'), JSON.stringify(large.objects));
const fleetArguments = ['everywhere', '-f', join(folder, 'fleet.json'), '--now', large.now];

const pages = {
  stuck: ['diagnose', run, ...example('cluster/stuck-workload.yaml')],
  approval: ['diagnose', run, ...example('cluster/waiting-for-approval.yaml')],
  timer: ['diagnose', run, ...example('cluster/timed-wait.yaml')],
  healthy: ['diagnose', run, ...example('cluster/succeeded.yaml')],
  sixty: ['diagnose', run, ...example('cluster/large-fleet.yaml')],
  hostile: ['diagnose', run, '-f', join(root, 'tests/outputs/hostile.yaml')],
  all: ['diagnose', '--all', ...example('cluster/rolling-back.yaml')],
  fleet: ['diagnose', ...fleetArguments],
  status: ['status', run, ...example('cluster/waiting-for-approval.yaml')],
  placement: ['status', 'crp/example-placement', ...example('cluster/preempted.yaml')],
};

let browser;
// Where pages are opened: as they are, and for the checks that put a script into the page. A context
// of its own for each page would be a window of its own, which takes longer than the page.
const contexts = {};
const urls = {};

before(async () => {
  for (const [name, words] of Object.entries(pages)) {
    const text = execFileSync(binary, [...words, '-o', 'html', '--exit-zero'], {
      encoding: 'utf8',
      maxBuffer: 64e6,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, KUBECONFIG: '/nonexistent' },
    });
    const file = join(folder, `${name}.html`);
    writeFileSync(file, text);
    urls[name] = pathToFileURL(file).href;
  }
  browser = await chromium.launch({
    executablePath: process.env.FLEET_STAGE_CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  });
  contexts.plain = await browser.newContext();
  contexts.scripted = await browser.newContext({ bypassCSP: true });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Opens a page, and fails on whatever it should not do: ask for anything, complain, talk back.
async function open(name, { viewport, colorScheme = 'light', scripted }, use) {
  const page = await (scripted ? contexts.scripted : contexts.plain).newPage();
  await page.setViewportSize(viewport ?? { width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme });
  const wrong = [];
  page.on('request', (request) => {
    if (request.url() !== urls[name]) wrong.push(`asked for ${request.url()}`);
  });
  page.on('console', (message) => wrong.push(`said ${message.text()}`));
  page.on('dialog', (dialog) => {
    wrong.push(`opened a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(urls[name]);
  try {
    await use(page);
  } finally {
    await page.close();
  }
  assert.deepEqual(wrong, []);
}

async function picture(page, name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

// In the dark only the colours are others: one look at all that there is.
const rules = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  dark: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

const openAll = (page) =>
  page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));

// Of rows and entries that differ by nothing but their numbers the first three stay: a thousand of a
// kind hinder nobody whom three do not, and each costs as much to look at.
const thinOut = (page) =>
  page.evaluate(() => {
    for (const list of document.querySelectorAll('tbody, ul, ol')) {
      const seen = new Map();
      for (const one of [...list.children]) {
        const kind = one.outerHTML.replace(/\d+/g, '');
        const times = (seen.get(kind) ?? 0) + 1;
        seen.set(kind, times);
        if (times > 3) one.remove();
      }
    }
  });

// Each has a page of its own, so that they need not wait for each other.
describe('pages', { concurrency: 3 }, () => {
  for (const name of Object.keys(pages)) {
    for (const colorScheme of ['light', 'dark']) {
      test(`${name}: nothing hinders anyone, ${colorScheme}`, async () => {
        await open(name, { colorScheme, scripted: true }, async (page) => {
          await picture(page, `${name}-${colorScheme}`);
          await thinOut(page);
          await page.evaluate(axe);
          for (const unfold of colorScheme === 'dark' ? [true] : [false, true]) {
            if (unfold) await openAll(page);
            const { violations } = await page.evaluate((runOnly) =>
              globalThis.axe.run(document, { resultTypes: ['violations'], runOnly }), rules[colorScheme]);
            const found = violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((n) => n.html)]);
            assert.deepEqual(found, []);
          }
          const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
          assert.equal(brightness(dark) < 128, colorScheme === 'dark', dark);
        });
      });
    }

    test(`${name}: the style is applied, and nothing else is`, async () => {
      await open(name, {}, async (page) => {
        assert.equal(await page.locator('script, link, img, iframe, object, [style], [onclick]').count(), 0);
        const border = await page.locator('.hero').first().evaluate((one) =>
          getComputedStyle(one).borderRadius);
        assert.equal(border, '8px');
      });
    });

    for (const width of [360, 1280]) {
      test(`${name}: nothing overflows at ${width} px`, async () => {
        await open(name, { viewport: { width, height: 800 } }, async (page) => {
          await openAll(page);
          if (width < 1000) await picture(page, `${name}-narrow`);
          const outside = await page.evaluate(() => {
            const edge = document.documentElement.clientWidth;
            const all = [...document.querySelectorAll('body *')];
            const apart = (one) => one.closest('.scroll, .unseen, .skip, svg');
            const wide = all.filter((one) => !apart(one) && one.getBoundingClientRect().right > edge + 1);
            return {
              page: document.documentElement.scrollWidth - edge,
              wide: wide.slice(0, 5).map((one) => one.outerHTML.slice(0, 120)),
            };
          });
          assert.deepEqual(outside, { page: 0, wide: [] });
        });
      });
    }

    test(`${name}: paper is white, and shows what is folded`, async () => {
      await open(name, { colorScheme: 'dark' }, async (page) => {
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        const body = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(brightness(body), 255, body);
        const dark = await page.evaluate(() => {
          const value = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
          return [...document.querySelectorAll('main, main *:not(svg *)')]
            .map((one) => [one, value(getComputedStyle(one).backgroundColor)])
            .filter(([one, [r, g, b, a = 1]]) => a > 0 && r + g + b < 3 * 160 && !one.matches('.key'))
            .map(([one]) => one.outerHTML.slice(0, 100));
        });
        assert.deepEqual(dark, []);
        const folded = await page.evaluate(() => [...document.querySelectorAll('details')]
          .filter((one) => !one.open)
          .filter((one) => !one.lastElementChild.checkVisibility({ contentVisibilityAuto: true }))
          .length);
        assert.equal(folded, 0);
        const pdf = await page.pdf({ format: 'A4' });
        assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
        if (pictures) writeFileSync(join(pictures, `${name}.pdf`), pdf);
      });
    });

    test(`${name}: the keyboard reaches everything`, async () => {
      await open(name, {}, async (page) => {
        const wanted = await page.evaluate(() => {
          const all = [...document.querySelectorAll('a[href], summary, [tabindex="0"]')];
          const shown = all.filter((one) => one.checkVisibility({ contentVisibilityAuto: true }));
          shown.forEach((one, at) => { one.dataset.stop = at; });
          return shown.length;
        });
        const reached = new Set();
        for (let at = 0; at < wanted + 2; at += 1) {
          await page.keyboard.press('Tab');
          const stop = await page.evaluate(() => {
            const one = document.activeElement;
            const { outlineStyle, outlineWidth } = getComputedStyle(one);
            return { at: one.dataset.stop, seen: outlineStyle !== 'none' && outlineWidth !== '0px' };
          });
          if (stop.at === undefined) continue;
          assert.ok(stop.seen, `stop ${stop.at} does not show the focus`);
          reached.add(stop.at);
        }
        assert.equal(reached.size, wanted);
        // The first stop leads past the head of the page.
        await page.reload();
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'report');
        const details = page.locator('details:not(details details)').first();
        if (await details.count()) {
          const was = await details.evaluate((one) => one.open);
          await details.locator('summary').first().focus();
          await page.keyboard.press('Enter');
          assert.equal(await details.evaluate((one) => one.open), !was);
        }
      });
    });
  }

  test('a screen reader finds the landmarks, the tables and the words', async () => {
    await open('stuck', {}, async (page) => {
      await openAll(page);
      const tree = await page.locator('body').ariaSnapshot();
      for (const part of [
        '- banner:',
        '- main:',
        '- contentinfo:',
        '- navigation "Sections"',
        '- heading "ClusterStagedUpdateRun example-run" [level=1]',
        '- region "Findings"',
        '- region "Timeline"',
        '- region "Stages"',
        '- table "Who waits for whom and how long, current waits first"',
        '- table "When each stage, gate, and cluster started and ended"',
        '- columnheader "Waits for"',
        '- rowheader "stage staging"',
        'cluster member2',
        'root cause',
      ]) {
        assert.ok(tree.includes(part), `${part} is not in\n${tree}`);
      }
      // The drawing itself is only for the eye.
      assert.ok(!tree.includes('wait for a slot'), tree);
    });
    await open('all', {}, async (page) => {
      const tree = await page.locator('body').ariaSnapshot();
      assert.ok(tree.includes('- table "The update runs, their states, and how far each has come"'), tree);
    });
  });

  test('headings go down one level at a time', async () => {
    for (const name of Object.keys(pages)) {
      await open(name, {}, async (page) => {
        const levels = await page.locator('h1, h2, h3, h4, h5').evaluateAll((all) =>
          all.map((one) => Number(one.tagName.slice(1))));
        assert.equal(levels.filter((level) => level === 1).length, 1, name);
        levels.reduce((last, level) => {
          assert.ok(level <= last + 1, `${name}: ${levels}`);
          return level;
        }, 0);
      });
    }
  });

  test('a thousand clusters make a page that opens at once', async () => {
    const size = statSync(fileURLToPath(urls.fleet)).size;
    assert.ok(size < 1_000_000, `${size} bytes`);
    await open('fleet', {}, async (page) => {
      const { loadEventEnd } = await page.evaluate(() => performance.getEntriesByType('navigation')[0].toJSON());
      assert.ok(loadEventEnd < 5_000, `${loadEventEnd} ms`);
      const rows = await page.locator('.chart .row').count();
      assert.ok(rows < 60, `${rows} rows are drawn`);
      // All of them are in the table.
      assert.equal(await page.locator('.times tbody tr').count(), 1000 + 2 + 1);
      console.log(`  ${size} bytes, open after ${Math.round(loadEventEnd)} ms`);
    });
  });
});

function brightness(color) {
  const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
  return (red + green + blue) / 3;
}
