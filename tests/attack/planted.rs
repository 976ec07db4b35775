//! Planted secrets: credentials of many kinds in the places where clusters have them. The values
//! are random, so that no rule can know them; the same seed gives the same.

#![allow(clippy::needless_pass_by_value)] // `json!` borrows what it is given

use serde_json::{Value, json};

/// Random numbers that are the same every time (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        usize::try_from(z % sides.max(1) as u64).unwrap_or_default()
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }

    fn some(&mut self, of: &str, many: usize) -> String {
        let of: Vec<char> = of.chars().collect();
        (0..many).map(|_| *self.pick(&of)).collect()
    }

    /// A text after a pattern: `{A36}` is 36 letters and digits.
    pub fn fill(&mut self, pattern: &str) -> String {
        let mut out = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (what, after) = after.split_once('}').unwrap_or((after, ""));
            let many = what[1..].parse().unwrap_or(1);
            let of = match &what[..1] {
                "A" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "H" => "0123456789abcdef",
                "L" => "abcdefghijklmnopqrstuvwxyz0123456789",
                "U" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                "D" => "0123456789",
                "B" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                "W" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
                "S" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#%^*_+?@$",
                _ => "abcdefghijkmnopqrstuvwxyz",
            };
            let text = self.some(of, many);
            out.push_str(&text);
            rest = after;
        }
        out + rest
    }
}

fn in_base64(plain: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(plain)
}

/// A secret somewhere.
pub struct Planted {
    pub kind: String,
    pub place: &'static str,
    /// The object that holds it.
    pub object: Value,
    /// What must not be seen any more.
    pub secret: String,
}

/// Where a secret is found: what that is called, what holds the text, and the text, with `{v}` for
/// the secret and `{url}` for the secret as a URL has it.
type Place<'t> = (&'static str, Holder, &'t str);

/// An object that has a text.
type Holder = fn(String) -> Value;

impl Planted {
    fn new(kind: &str, (place, holder, text): Place<'_>, secret: String) -> Self {
        let text = text.replace("{v}", &secret);
        Self {
            kind: kind.to_owned(),
            place,
            object: holder(text.replace("{url}", &encoded(&secret))),
            secret,
        }
    }

    /// The parts of the secret, as it is and as it stands in a URL: each is as telling as all of it.
    pub fn pieces(&self) -> Vec<String> {
        let pieces = |secret: &str| -> Vec<String> {
            let signs: Vec<char> = secret.chars().collect();
            let pieces = signs.windows(PIECE.min(signs.len()));
            pieces.map(|piece| piece.iter().collect()).collect()
        };
        [pieces(&self.secret), pieces(&encoded(&self.secret))].concat()
    }

    /// Whether a part of the secret is in a text.
    pub fn leaks_into(&self, text: &str) -> bool {
        self.pieces().iter().any(|piece| text.contains(piece))
    }
}

/// So many signs of a secret are a part of it.
pub const PIECE: usize = 8;

/// Tokens that say by their form what they are: who issues them, and what they look like.
const TOKENS: &[(&str, &str)] = &[
    ("1Password account", "A3-{U6}-{U11}-{U5}-{U5}-{U5}"),
    ("Adobe client secret", "p8e-{L32}"),
    ("age key", "AGE-SECRET-KEY-1{U58}"),
    ("Aiven password", "AVNS_{W19}"),
    ("Airtable token", "pat{A14}.{H64}"),
    ("Alibaba key", "LTAI{A20}"),
    ("AWS key", "AKIA{U16}"),
    ("AWS session key", "ASIA{U16}"),
    ("Amazon Bedrock key", "ABSK{B120}"),
    ("Anthropic key", "sk-ant-api03-{W93}AA"),
    ("Anthropic admin key", "sk-ant-admin01-{W93}AA"),
    ("Artifactory key", "AKCp{A69}"),
    ("Atlassian token", "ATATT3xFfGF0{W120}={H8}"),
    ("Azure client secret", "{A3}8Q~{W34}"),
    ("Bitbucket app password", "ATBB{A32}"),
    ("Buildkite token", "bkua_{L40}"),
    ("CircleCI token", "CCIPAT_{A22}_{H40}"),
    ("Clojars token", "CLOJARS_{L60}"),
    ("Cloudflare origin key", "v1.0-{H24}-{H146}"),
    ("Contentful token", "CFPAT-{W43}"),
    ("Cargo token", "cio{A32}"),
    ("Databricks token", "dapi{H32}"),
    ("DigitalOcean token", "dop_v1_{H64}"),
    ("DigitalOcean refresh token", "dor_v1_{H64}"),
    ("Docker Hub token", "dckr_pat_{W27}"),
    ("Doppler token", "dp.pt.{A43}"),
    ("Duffel token", "duffel_live_{W43}"),
    ("Dynatrace token", "dt0c01.{U24}.{U64}"),
    ("EasyPost key", "EZAK{A54}"),
    ("Facebook page token", "EAAM{A120}"),
    ("Figma token", "figd_{W40}"),
    ("Flutterwave key", "FLWSECK_TEST-{H32}-X"),
    ("Fly token", "fo1_{W43}"),
    ("Frame.io token", "fio-u-{W64}"),
    ("GitHub token", "ghp_{A36}"),
    ("GitHub OAuth token", "gho_{A36}"),
    ("GitHub app token", "ghs_{A36}"),
    ("GitHub fine-grained token", "github_pat_{A22}_{A59}"),
    ("GitLab token", "glpat-{W20}"),
    ("GitLab deploy token", "gldt-{W20}"),
    ("GitLab runner token", "glrt-{W20}"),
    ("GitLab job token", "glcbt-{H2}_{W20}"),
    ("GitLab agent token", "glagent-{W50}"),
    ("GitLab registration token", "GR1348941{W20}"),
    ("Google key", "AIza{W35}"),
    ("Google access token", "ya29.{W120}"),
    ("Google client secret", "GOCSPX-{W28}"),
    ("Google refresh token", "1//0{W60}"),
    ("Grafana token", "glsa_{A32}_{H8}"),
    ("Grafana Cloud token", "glc_{B80}"),
    ("Groq key", "gsk_{A52}"),
    ("Harness token", "pat.{W22}.{A24}.{A20}"),
    ("HashiCorp Vault token", "hvs.{W95}"),
    ("HashiCorp Vault batch token", "hvb.{W150}"),
    ("HashiCorp Terraform token", "{A14}.atlasv1.{W67}"),
    ("Heroku key", "HRKU-AA{W58}"),
    ("HubSpot token", "pat-na1-{H8}-{H4}-{H4}-{H4}-{H12}"),
    ("Hugging Face token", "hf_{A34}"),
    ("Infracost key", "ico-{A32}"),
    (
        "JSON web token",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6I{A20}.eyJpc3MiOiJrdWJlcm5ldGVz{A60}.{W86}",
    ),
    ("LangSmith key", "lsv2_pt_{H32}_{H10}"),
    ("LaunchDarkly key", "sdk-{H8}-{H4}-{H4}-{H4}-{H12}"),
    ("Linear key", "lin_api_{A40}"),
    ("Mailchimp key", "{H32}-us12"),
    ("Mailgun key", "key-{H32}"),
    ("MaxMind key", "{A6}_{A29}_mmk"),
    ("Netlify token", "nfp_{A36}"),
    ("New Relic key", "NRAK-{U27}"),
    ("Notion token", "ntn_{D11}{A35}"),
    ("npm token", "npm_{A36}"),
    ("NuGet key", "oy2{L43}"),
    ("Octopus key", "API-{U26}"),
    ("OpenAI key", "sk-{A20}T3BlbkFJ{A20}"),
    ("OpenAI project key", "sk-proj-{W74}T3BlbkFJ{W74}"),
    ("OpenAI service key", "sk-svcacct-{W58}T3BlbkFJ{W58}"),
    ("OpenRouter key", "sk-or-v1-{H64}"),
    ("OpenShift token", "sha256~{W43}"),
    ("Perplexity key", "pplx-{A48}"),
    ("PlanetScale password", "pscale_pw_{W43}"),
    ("PlanetScale token", "pscale_tkn_{W43}"),
    ("Postman key", "PMAK-{H24}-{H34}"),
    ("Prefect key", "pnu_{A36}"),
    ("Pulumi token", "pul-{H40}"),
    ("PyPI token", "pypi-AgEIcHlwaS5vcmc{W120}"),
    ("Readme key", "rdme_{L70}"),
    ("Replicate token", "r8_{A37}"),
    ("RubyGems key", "rubygems_{H48}"),
    ("Scalingo token", "tk-us-{W48}"),
    ("SendGrid key", "SG.{W22}.{W43}"),
    ("Sendinblue key", "xkeysib-{H64}-{A16}"),
    ("Sentry user token", "sntryu_{H64}"),
    ("SettleMint token", "sm_aat_{A16}"),
    ("Shippo token", "shippo_live_{H40}"),
    ("Shopify token", "shpat_{H32}"),
    ("Slack bot token", "xoxb-{D12}-{D13}-{A24}"),
    ("Slack user token", "xoxp-{D12}-{D12}-{D12}-{H32}"),
    ("Slack app token", "xapp-1-{U11}-{D13}-{H64}"),
    ("Sonar token", "squ_{H40}"),
    ("Sourcegraph token", "sgp_{H16}_{H40}"),
    ("Square token", "sq0atp-{W22}"),
    ("Stripe key", "sk_live_{A24}"),
    ("Stripe restricted key", "rk_test_{A40}"),
    ("Stripe webhook secret", "whsec_{A32}"),
    ("Supabase token", "sbp_{H40}"),
    ("Tailscale key", "tskey-auth-{A16}-{A32}"),
    ("Telegram bot token", "{D10}:AA{W33}"),
    ("Twilio key", "SK{H32}"),
    ("Typeform token", "tfp_{W59}"),
    ("bcrypt hash", "$2y$10${A53}"),
    ("SHA-512 crypt hash", "$6${A16}${A86}"),
    ("Apache hash", "$apr1${A8}${A22}"),
];

/// Where a token is found, which needs no name.
#[rustfmt::skip]
const TOKEN_PLACES: &[Place<'static>] = &[
    ("sentence", said, "failed to authenticate with {v}, giving up"),
    ("quoted in a sentence", said, "the server refused \"{v}\": unauthorized"),
    ("end of a sentence", said, "cannot use {v}"),
    ("brackets", said, "credential ({v}) has expired"),
    ("line of a log", said, "E0102 10:11:12.000 1 client.go:12] \"request failed\" header=\"{v}\" attempt=3"),
    ("JSON after text", said, "patch refused: {\"spec\":{\"x\":\"{v}\",\"replicas\":2}}"),
    ("JSON in JSON after text", said, "patch refused: \"{\\\"spec\\\":{\\\"x\\\":\\\"{v}\\\"}}\""),
    ("words of Go", said, "{Name:x Value:{v} ValueFrom:nil}"),
    ("setting", configured, "# clients\nendpoint: https://example.com\nvalue: {v}\nretries: 3\n"),
    ("variable", configured, "export X={v}\nexport Y=1\n"),
    ("argument", in_pod, r#"{"name": "web", "command": ["sh", "-c", "run --x={v} --y 2"]}"#),
    ("query", said, "GET https://example.com/v1?x={v}&y=2 failed"),
    ("value of a variable", object, r#"{"name": "X", "value": "{v}"}"#),
    ("annotation", annotated, "{v}"),
    ("item of a list", in_pod, r#"{"name": "web", "args": ["serve", "{v}"]}"#),
];

/// Names that say that their value is a credential.
const NAMES: &[&str] = &[
    "DB_PASSWORD",
    "DB_PASS",
    "DBPASS",
    "PGPASSWORD",
    "MYSQL_ROOT_PASSWORD",
    "REDIS_PASSWD",
    "SMTP_PWD",
    "API_TOKEN",
    "AUTH_TOKEN",
    "GITHUB_TOKEN",
    "ACCESS_TOKEN",
    "REFRESH_TOKEN",
    "BOT_TOKEN_2",
    "API_KEY",
    "APIKEY",
    "DATADOG_API_KEY",
    "X_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "ACCESS_KEY",
    "SECRET_KEY",
    "SECRET_KEY_BASE",
    "PRIVATE_KEY",
    "SIGNING_KEY",
    "ENCRYPTION_KEY",
    "MASTER_KEY",
    "LICENSE_KEY",
    "STORAGE_ACCOUNT_KEY",
    "SHARED_ACCESS_KEY",
    "SSH_KEY",
    "SESSION_SECRET",
    "JWT_SECRET",
    "CLIENT_SECRET",
    "OAUTH_CLIENT_SECRET",
    "WEBHOOK_SECRET",
    "COOKIE_SECRET",
    "APP_SECRET",
    "AZURE_CREDS",
    "REGISTRY_CREDENTIALS",
    "SERVICE_CRED",
    "KEY_PASSPHRASE",
    "KEYSTORE_PASS",
    "LDAP_BIND_PW",
    "WIFI_PSK",
    "VAULT_SECRET_ID",
    "HMAC_KEY",
    "AUTH_KEY",
    "CLIENT_KEY_DATA",
    "SUBSCRIPTION_KEY",
    "DEPLOY_KEY",
    "USER_PASSWORD_HASH",
    "ADMIN_PASSWORD_B64",
    "SENTRY_AUTH_TOKEN",
];

/// What people and machines choose as passwords and keys.
const VALUES: &[(&str, &str)] = &[
    ("random", "{A20}"),
    ("with signs", "{A3}{S13}{A2}"),
    ("base64", "{B43}="),
    ("hexadecimal", "{H40}"),
    ("short", "{a5}{D2}"),
    ("words", "{a7}-{a5}-{a8}-{a4}"),
];

/// Where a value is found under a name, in the forms that a name has there.
#[rustfmt::skip]
const NAMED_PLACES: &[Place<'static>] = &[
    ("environment", in_pod, r#"{"name": "web", "env": [{"name": "A", "value": "1"}, {"name": "{NAME}", "value": "{v}"}]}"#),
    ("field", object, r#"{"kind": "App", "spec": {"db": {"{camel}": "{v}"}}}"#),
    ("key of a ConfigMap", object, r#"{"kind": "ConfigMap", "data": {"{name}": "{v}"}}"#),
    ("flag and value", in_pod, r#"{"name": "web", "args": ["serve", "--{kebab}", "{v}"]}"#),
    ("flag with value", in_pod, r#"{"name": "web", "args": ["serve", "--{kebab}={v}"]}"#),
    ("line of YAML", configured, "server:\n  port: 80\n  {camel}: \"{v}\"\n  host: a\n"),
    ("line of properties", configured, "server.port=80\napp.{dotted}={v}\nserver.host=a\n"),
    ("line of a shell", configured, "#!/bin/sh\nexport {NAME}='{v}'\nexec serve\n"),
    ("line of a .env", configured, "A=1\n{NAME}={v}\nB=2\n"),
    ("JSON", |text| configured(object(text).to_string()), r#"{"db": {"{camel}": "{v}", "port": 5432}}"#),
    ("TOML", configured, "[db]\nport = 5432\n{name} = \"{v}\"\n"),
    ("JSON after text", said, r#"invalid object: {"a":1,"{camel}":"{v}"}"#),
    ("JSON in JSON after text", said, r#"invalid object: "{\"a\":1,\"{camel}\":\"{v}\"}""#),
    ("pair in JSON after text", said, r#"invalid: {"env":[{"name":"{NAME}","value":"{v}"}]}"#),
    ("pair in YAML", configured, "env:\n- name: {NAME}\n  value: \"{v}\"\n- name: B\n  value: x\n"),
    ("refused value", said, r#"Deployment "web" is invalid: spec.db.{camel}: Invalid value: "{v}": must be shorter"#),
    ("refused key", said, r#"ConfigMap "web" is invalid: data[{kebab}]: Invalid value: "{v}": no"#),
    ("header", said, "request failed, headers: X-{Header}: {v}"),
    ("command in text", said, "exec failed: serve --{kebab} {v} --port 80"),
    ("command with a dash", said, "exec failed: serve -{kebab} {v} -port 80"),
    ("assignment in text", said, "exec failed: {NAME}={v} serve --port 80"),
    ("colon in text", said, "login failed with {camel}: {v}"),
    ("XML", configured, "<config>\n  <{camel}>{v}</{camel}>\n</config>\n"),
    ("attributes of XML", configured, "<add key=\"{camel}\" value=\"{v}\"/>\n"),
    ("query", said, "GET https://example.com/v1?a=1&{name}={url}&b=2: refused"),
    ("patch", object, r#"{"op": "add", "path": "/spec/db/{camel}", "value": "{v}"}"#),
    ("drift", object, r#"{"status": {"driftedPlacements": [{"kind": "App", "observedDrifts": [{"path": "/spec/{camel}", "valueInHub": "{v}", "valueInMember": "a"}]}]}}"#),
];

/// Where a password is found in what leads to a server, and what else is secret by its place.
#[rustfmt::skip]
const CONNECTIONS: &[Place<'static>] = &[
    ("ADO.NET", said, "cannot connect with Server=db;Database=x;User Id=app;Password={v};Encrypt=true"),
    ("ODBC", said, "Driver={ODBC};Server=db;Uid=app;Pwd={v};"),
    ("libpq", said, "cannot connect to \"host=db user=app password={v} dbname=x\""),
    ("JDBC", said, "jdbc:sqlserver://db:1433;user=app;password={v};encrypt=true"),
    ("JDBC query", said, "jdbc:mysql://db/x?user=app&password={url}"),
    ("Azure storage", said, "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={v};EndpointSuffix=core.windows.net"),
    ("Service Bus", said, "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=all;SharedAccessKey={v}"),
    ("sshpass", said, "exec failed: sshpass -p {v} ssh host"),
    ("mysql", said, "exec failed: mysql -u root -p{v} shop"),
    ("redis-cli", said, "exec failed: redis-cli -h db -a {v} ping"),
    ("docker login", said, "exec failed: docker login -u app -p {v} registry.example.com"),
    ("curl -u", said, "exec failed: curl -s -u app:{v} https://example.com/x"),
    ("curl --user", said, "exec failed: curl --user app:{v} https://example.com/x"),
    ("wget", said, "exec failed: wget --user=app --password={v} https://example.com/x"),
    ("helm --set", said, "exec failed: helm upgrade x y --set db.password={v},replicas=2"),
    ("openssl", said, "exec failed: openssl pkcs12 -in x.p12 -passin pass:{v} -nokeys"),
    ("URL", said, "dial postgres://app:{url}@db.example.com:5432/x?sslmode=disable: refused"),
    ("AMQP URL", configured, "broker: amqps://app:{url}@mq:5671/x\n"),
    ("Go DSN", said, "open app:{v}@tcp(db:3306)/shop: refused"),
    ("MongoDB URL in a variable", object, r#"{"name": "URI", "value": "mongodb+srv://app:{url}@c0.example.net/x"}"#),
    ("netrc", configured, "machine example.com\nlogin app\npassword {v}\n"),
    ("redis.conf", configured, "port 6379\nrequirepass {v}\nappendonly yes\n"),
    ("SQL", configured, "CREATE USER app;\nALTER USER app IDENTIFIED BY '{v}';\n"),
    ("curl in arguments", in_pod, r#"{"command": ["curl", "-u", "app:{v}", "https://example.com"]}"#),
    ("Hadoop XML", configured, "<property>\n  <name>fs.s3a.secret.key</name>\n  <value>{v}</value>\n</property>\n"),
    ("data of a Secret", object, r#"{"apiVersion": "v1", "kind": "Secret", "stringData": {"x": "{v}"}}"#),
    ("Secret in a Work", object, r#"{"kind": "Work", "spec": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "Secret", "data": {"x": "{v}"}}]}}}"#),
    ("Secret in an envelope", object, r#"{"kind": "ResourceEnvelope", "data": {"s.yaml": {"apiVersion": "v1", "kind": "Secret", "data": {"x": "{v}"}}}}"#),
    ("Secret in YAML", configured, "apiVersion: v1\nkind: Secret\nstringData:\n  x: \"{v}\"\n"),
    ("Secret in JSON", annotated, r#"{"apiVersion":"v1","data":{"x":"{v}"},"kind":"Secret"}"#),
    ("Secret in JSON after text", said, r#"cannot apply {"apiVersion":"v1","data":{"x":"{v}"},"kind":"Secret"}"#),
    ("Secret in a patch after text", said, r#"cannot patch Secret with "{\"data\":{\"x\":\"{v}\"}}""#),
    ("Secret as Go prints it", said, "cannot apply &{map[apiVersion:v1 data:map[x:{v}] kind:Secret metadata:map[name:db]]}"),
    ("block of YAML", configured, "db:\n  password: |\n    {v}\n  port: 1\n"),
    ("drift of a Secret", object, r#"{"status": {"diffedPlacements": [{"kind": "Secret", "observedDiffs": [{"path": "/data/x", "valueInHub": "{v}"}]}]}}"#),
];

/// What is secret in a form of its own: what it is, what it looks like, and the text.
#[rustfmt::skip]
const FORMS: &[(&str, &str, &str)] = &[
    ("Authorization: Bearer", "{A32}", "Authorization: Bearer {v}"),
    ("Authorization: token", "{H40}", "Authorization: token {v}"),
    ("Authorization: ApiKey", "{A22}", "Authorization: ApiKey {v}"),
    ("Authorization without scheme", "{A30}", "Authorization: {v}"),
    ("Authorization in JSON", "{A30}", r#"request: {"headers":{"Authorization":"Bearer {v}"}}"#),
    ("Bearer in text", "{A12}9{A12}", "got 401 with Bearer {v} from server"),
    ("Cookie", "{A32}", "Cookie: session={v}; theme=dark"),
    ("curl -H", "{A32}", "curl -H 'X-Api-Key: {v}' https://example.com"),
    ("curl -H Authorization", "{A32}", "curl -H \"Authorization: Bearer {v}\" https://example.com"),
    ("SAS", "{A40}", "GET https://x.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig={v}%3D: 403"),
    ("signed URL of S3", "{H64}", "GET https://b.s3.amazonaws.com/k?X-Amz-Date=20250101T000000Z&X-Amz-Signature={v}: 403"),
    ("signed URL of GCS", "{H64}", "GET https://storage.googleapis.com/b/k?X-Goog-Date=1&X-Goog-Signature={v}: 403"),
    ("Slack webhook", "T{U10}/B{U10}/{A24}", "POST https://hooks.slack.com/services/{v} failed"),
    ("Discord webhook", "{D18}/{W68}", "POST https://discord.com/api/webhooks/{v} failed"),
    ("Teams webhook", "{H8}-{H4}-{H4}-{H4}-{H12}@{H8}-{H4}-{H4}-{H4}-{H12}/IncomingWebhook/{H32}/{H12}", "POST https://x.webhook.office.com/webhookb2/{v} failed"),
    ("PagerDuty integration", "{H32}", "POST https://events.pagerduty.com/integration/{v}/enqueue failed"),
    ("Feishu webhook", "{H8}-{H4}-{H4}-{H4}-{H12}", "POST https://open.feishu.cn/open-apis/bot/v2/hook/{v} failed"),
    ("token in a URL", "{A40}", "fetch https://{v}@github.com/a/b.git failed"),
    ("token and user in a URL", "{A40}", "fetch https://x-access-token:{v}@github.com/a/b.git failed"),
    ("npmrc", "{A36}", "//registry.example.com/:_authToken={v}"),
];

/// Where a user and a password are found in base64.
#[rustfmt::skip]
const LOGINS: &[Place<'static>] = &[
    ("Docker configuration", configured, r#"{"auths":{"registry.example.com":{"auth":"{v}"}}}"#),
    ("Docker configuration after text", said, r#"bad config: {"auths":{"registry.example.com":{"auth":"{v}"}}}"#),
    ("Docker configuration in YAML", configured, "auths:\n  registry.example.com:\n    auth: {v}\n"),
    ("npmrc", configured, "registry=https://example.com\n_auth={v}\n"),
    ("Authorization: Basic", said, "401 with Authorization: Basic {v}"),
    ("Basic in JSON", said, r#"request {"headers":{"Authorization":["Basic {v}"]}}"#),
];

/// A text with a name in it, in each of its forms.
fn named(text: &str, name: &str) -> String {
    let lower = name.to_lowercase();
    let words = name.split('_');
    let words = words.map(|word| word[..1].to_uppercase() + &word[1..].to_lowercase());
    let words: Vec<_> = words.collect();
    let forms = [
        ("{NAME}", name.to_owned()),
        ("{camel}", words[0].to_lowercase() + &words[1..].concat()),
        ("{kebab}", lower.replace('_', "-")),
        ("{dotted}", lower.replace('_', ".")),
        ("{Header}", words.join("-")),
        ("{name}", lower),
    ];
    let text = text.to_owned();
    forms
        .iter()
        .fold(text, |text, (form, name)| text.replace(*form, name))
}

/// A text in the objects that have one: what a controller wrote, and what a user did.
fn said(message: String) -> Value {
    json!({"kind": "ClusterResourceBinding", "status": {"conditions": [
        {"type": "Applied", "status": "False", "reason": "ManifestApplyFailed", "message": message}]}})
}

fn configured(text: String) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "shop"},
        "data": {"app.conf": text}})
}

fn annotated(text: String) -> Value {
    json!({"kind": "Deployment", "metadata": {"name": "web", "annotations": {"example.com/note": text}}})
}

fn in_pod(container: String) -> Value {
    json!({"kind": "Work", "spec": {"workload": {"manifests": [{"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [object(container)]}}}}]}}})
}

/// The object that a text writes down.
fn object(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn encoded(value: &str) -> String {
    value.chars().fold(String::new(), |out, c| {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~') {
            out + &c.to_string()
        } else {
            out + &format!("%{:02X}", u32::from(c))
        }
    })
}

/// Everything that is planted.
pub fn all(seed: u64) -> Vec<Planted> {
    let mut dice = Dice::new(seed);
    let mut planted = Vec::new();
    for (kind, pattern) in TOKENS {
        for &place in TOKEN_PLACES {
            planted.push(Planted::new(kind, place, dice.fill(pattern)));
        }
    }
    for name in NAMES {
        for (what, pattern) in VALUES {
            let kind = format!("{name} ({what})");
            for &(place, holder, text) in NAMED_PLACES {
                let text = named(text, name);
                let secret = dice.fill(pattern);
                planted.push(Planted::new(&kind, (place, holder, &text), secret));
            }
        }
    }
    for (what, pattern) in VALUES {
        let kind = format!("connection ({what})");
        for &place in CONNECTIONS {
            planted.push(Planted::new(&kind, place, dice.fill(pattern)));
        }
    }
    let lines: [(&str, Holder); 2] = [
        ("sentence", said),
        ("settings", |text| configured(text + "\n")),
    ];
    for (place, holder) in lines {
        for &(kind, pattern, text) in FORMS {
            let secret = dice.fill(pattern);
            planted.push(Planted::new(kind, (place, holder, text), secret));
        }
    }
    for &place in LOGINS {
        let secret = in_base64(&dice.fill("app:{A18}"));
        planted.push(Planted::new("user and password in base64", place, secret));
    }
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let body = dice.fill("{B64}\n{B64}\n{B64}\n{B40}==");
        private_key(kind, &body, &mut planted);
    }
    planted
}

fn private_key(kind: &str, body: &str, planted: &mut Vec<Planted>) {
    let pem =
        format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----\n");
    let line = body.lines().nth(1).unwrap_or_default();
    let encoded = in_base64(&pem);
    let middle = &encoded[100..160];
    let kind = format!("{kind}private key");
    let block = pem.replace('\n', "\n    ");
    #[rustfmt::skip]
    let places: [(&str, Holder, String, &str); 9] = [
        ("key of a ConfigMap", object, json!({"kind": "ConfigMap", "data": {"x": pem}}).to_string(), line),
        ("sentence", said, format!("cannot read {pem}"), line),
        ("cut off", said, format!("cannot read {}", &pem[..pem.len() - 60]), line),
        ("JSON after text", said, format!("bad account: {}", json!({"k": pem})), line),
        ("JSON", configured, json!({"k": pem}).to_string(), line),
        ("block of YAML", configured, format!("x:\n  k: |\n    {block}"), line),
        ("base64", object, json!({"spec": {"x": encoded}}).to_string(), middle),
        ("kubeconfig", configured, format!("users:\n- name: a\n  user:\n    client-key-data: {encoded}\n"), middle),
        ("base64 in a sentence", said, format!("cannot decode {encoded}"), middle),
    ];
    for (place, holder, text, secret) in places {
        let secret = secret.to_owned();
        planted.push(Planted::new(&kind, (place, holder, &text), secret));
    }
}
