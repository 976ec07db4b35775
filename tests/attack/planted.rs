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

impl Planted {
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

/// Where a token is found that needs no name: text with `@` in its place.
#[rustfmt::skip]
const TOKEN_PLACES: &[(&str, &str)] = &[
    ("sentence", "failed to authenticate with @, giving up"),
    ("quoted in a sentence", "the server refused \"@\": unauthorized"),
    ("end of a sentence", "cannot use @"),
    ("brackets", "credential (@) has expired"),
    ("line of a log", "E0102 10:11:12.000 1 client.go:12] \"request failed\" header=\"@\" attempt=3"),
    ("JSON after text", "patch refused: {\"spec\":{\"x\":\"@\",\"replicas\":2}}"),
    ("JSON in JSON after text", "patch refused: \"{\\\"spec\\\":{\\\"x\\\":\\\"@\\\"}}\""),
    ("words of Go", "{Name:x Value:@ ValueFrom:nil}"),
    ("setting", "# clients\nendpoint: https://example.com\nvalue: @\nretries: 3\n"),
    ("variable", "export X=@\nexport Y=1\n"),
    ("argument", "run --x=@ --y 2"),
    ("query", "GET https://example.com/v1?x=@&y=2 failed"),
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

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_lowercase();
    words.fold(first, |out, word| {
        out + &word[..1].to_uppercase() + &word[1..].to_lowercase()
    })
}

fn kebab(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

fn dotted(name: &str) -> String {
    format!("app.{}", name.to_lowercase().replace('_', "."))
}

fn header(name: &str) -> String {
    let words = name
        .split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..].to_lowercase());
    format!("X-{}", words.collect::<Vec<_>>().join("-"))
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

fn in_pod(container: Value) -> Value {
    json!({"kind": "Work", "spec": {"workload": {"manifests": [{"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [container]}}}}]}}})
}

/// Everything that is planted.
pub fn all(seed: u64) -> Vec<Planted> {
    let mut dice = Dice::new(seed);
    let mut planted = Vec::new();
    for (kind, pattern) in TOKENS {
        for (place, text) in TOKEN_PLACES {
            let secret = dice.fill(pattern);
            let text = text.replace('@', &secret);
            let object = match *place {
                "setting" | "variable" => configured(text),
                "argument" => in_pod(json!({"name": "web", "command": ["sh", "-c", text]})),
                _ => said(text),
            };
            planted.push(Planted {
                kind: (*kind).to_owned(),
                place,
                object,
                secret,
            });
        }
        for (place, object) in [
            ("value of a variable", json!({"name": "X", "value": "@"})),
            ("annotation", annotated("@".to_owned())),
            (
                "item of a list",
                in_pod(json!({"name": "web", "args": ["serve", "@"]})),
            ),
        ] {
            let secret = dice.fill(pattern);
            let text = object.to_string().replace('@', &secret);
            let object = serde_json::from_str(&text).unwrap_or_default();
            planted.push(Planted {
                kind: (*kind).to_owned(),
                place,
                object,
                secret,
            });
        }
    }
    for name in NAMES {
        for (what, pattern) in VALUES {
            let kind = format!("{name} ({what})");
            by_name(&mut dice, name, &kind, pattern, &mut planted);
        }
    }
    others(&mut dice, &mut planted);
    planted
}

fn by_name(dice: &mut Dice, name: &str, kind: &str, pattern: &str, planted: &mut Vec<Planted>) {
    let mut plant = |place, make: &dyn Fn(&str) -> Value| {
        let secret = dice.fill(pattern);
        planted.push(Planted {
            kind: kind.to_owned(),
            place,
            object: make(&secret),
            secret,
        });
    };
    let (camel, kebab, dotted, header) = (camel(name), kebab(name), dotted(name), header(name));
    plant("environment", &|v| {
        in_pod(
            json!({"name": "web", "env": [{"name": "A", "value": "1"}, {"name": name, "value": v}]}),
        )
    });
    plant(
        "field",
        &|v| json!({"kind": "App", "spec": {"db": {camel.clone(): v}}}),
    );
    plant(
        "key of a ConfigMap",
        &|v| json!({"kind": "ConfigMap", "data": {name.to_lowercase(): v}}),
    );
    plant("flag and value", &|v| {
        in_pod(json!({"name": "web", "args": ["serve", format!("--{kebab}"), v]}))
    });
    plant("flag with value", &|v| {
        in_pod(json!({"name": "web", "args": ["serve", format!("--{kebab}={v}")]}))
    });
    plant("line of YAML", &|v| {
        configured(format!(
            "server:\n  port: 80\n  {camel}: {}\n  host: a\n",
            json!(v)
        ))
    });
    plant("line of properties", &|v| {
        configured(format!("server.port=80\n{dotted}={v}\nserver.host=a\n"))
    });
    plant("line of a shell", &|v| {
        configured(format!("#!/bin/sh\nexport {name}='{v}'\nexec serve\n"))
    });
    plant("line of a .env", &|v| {
        configured(format!("A=1\n{name}={v}\nB=2\n"))
    });
    plant("JSON", &|v| {
        configured(json!({"db": {camel.clone(): v, "port": 5432}}).to_string())
    });
    plant("TOML", &|v| {
        configured(format!(
            "[db]\nport = 5432\n{} = \"{v}\"\n",
            name.to_lowercase()
        ))
    });
    plant("JSON after text", &|v| {
        said(format!(
            "invalid object: {}",
            json!({"a": 1, camel.clone(): v})
        ))
    });
    plant("JSON in JSON after text", &|v| {
        said(format!(
            "invalid object: {}",
            json!(json!({"a": 1, camel.clone(): v}).to_string())
        ))
    });
    plant("pair in JSON after text", &|v| {
        said(format!(
            "invalid: {}",
            json!({"env": [{"name": name, "value": v}]})
        ))
    });
    plant("pair in YAML", &|v| {
        configured(format!(
            "env:\n- name: {name}\n  value: {}\n- name: B\n  value: x\n",
            json!(v)
        ))
    });
    plant("refused value", &|v| {
        said(format!(
            "Deployment \"web\" is invalid: spec.db.{camel}: Invalid value: {}: must be shorter",
            json!(v)
        ))
    });
    plant("refused key", &|v| {
        said(format!(
            "ConfigMap \"web\" is invalid: data[{kebab}]: Invalid value: {}: no",
            json!(v)
        ))
    });
    plant("header", &|v| {
        said(format!("request failed, headers: {header}: {v}"))
    });
    plant("command in text", &|v| {
        said(format!("exec failed: serve --{kebab} {v} --port 80"))
    });
    plant("command with a dash", &|v| {
        said(format!("exec failed: serve -{kebab} {v} -port 80"))
    });
    plant("assignment in text", &|v| {
        said(format!("exec failed: {name}={v} serve --port 80"))
    });
    plant("colon in text", &|v| {
        said(format!("login failed with {camel}: {v}"))
    });
    plant("XML", &|v| {
        configured(format!(
            "<config>\n  <{camel}>{}</{camel}>\n</config>\n",
            v.replace('&', "&amp;")
        ))
    });
    plant("attributes of XML", &|v| {
        configured(format!("<add key=\"{camel}\" value=\"{v}\"/>\n"))
    });
    plant("query", &|v| {
        said(format!(
            "GET https://example.com/v1?a=1&{}={}&b=2: refused",
            name.to_lowercase(),
            encoded(v)
        ))
    });
    plant(
        "patch",
        &|v| json!({"op": "add", "path": format!("/spec/db/{camel}"), "value": v}),
    );
    plant(
        "drift",
        &|v| json!({"status": {"driftedPlacements": [{"kind": "App", "observedDrifts": [{"path": format!("/spec/{camel}"), "valueInHub": v, "valueInMember": "a"}]}]}}),
    );
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

/// What is secret by its place, or in a form of its own.
fn others(dice: &mut Dice, planted: &mut Vec<Planted>) {
    let mut plant = |kind: &str, place, pattern: &str, make: &dyn Fn(&str) -> Value| {
        let secret = dice.fill(pattern);
        planted.push(Planted {
            kind: kind.to_owned(),
            place,
            object: make(&secret),
            secret,
        });
    };
    for (what, pattern) in VALUES {
        let kind = format!("connection ({what})");
        let texts: &[(&'static str, &str)] = &[
            (
                "ADO.NET",
                "cannot connect with Server=db;Database=x;User Id=app;Password=@;Encrypt=true",
            ),
            ("ODBC", "Driver={ODBC};Server=db;Uid=app;Pwd=@;"),
            (
                "libpq",
                "cannot connect to \"host=db user=app password=@ dbname=x\"",
            ),
            (
                "JDBC",
                "jdbc:sqlserver://db:1433;user=app;password=@;encrypt=true",
            ),
            ("JDBC query", "jdbc:mysql://db/x?user=app&password=@"),
            (
                "Azure storage",
                "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@;EndpointSuffix=core.windows.net",
            ),
            (
                "Service Bus",
                "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=all;SharedAccessKey=@",
            ),
            ("sshpass", "exec failed: sshpass -p @ ssh host"),
            ("mysql", "exec failed: mysql -u root -p@ shop"),
            ("redis-cli", "exec failed: redis-cli -h db -a @ ping"),
            (
                "docker login",
                "exec failed: docker login -u app -p @ registry.example.com",
            ),
            (
                "curl -u",
                "exec failed: curl -s -u app:@ https://example.com/x",
            ),
            (
                "curl --user",
                "exec failed: curl --user app:@ https://example.com/x",
            ),
            (
                "wget",
                "exec failed: wget --user=app --password=@ https://example.com/x",
            ),
            (
                "helm --set",
                "exec failed: helm upgrade x y --set db.password=@,replicas=2",
            ),
            (
                "openssl",
                "exec failed: openssl pkcs12 -in x.p12 -passin pass:@ -nokeys",
            ),
        ];
        for (place, text) in texts {
            // In a query or in a list of settings some signs are written otherwise.
            plant(&kind, place, pattern, &|v| {
                let v = if *place == "JDBC query" {
                    encoded(v)
                } else {
                    v.to_owned()
                };
                said(text.replace('@', &v))
            });
        }
        plant(&kind, "URL", pattern, &|v| {
            said(format!(
                "dial postgres://app:{}@db.example.com:5432/x?sslmode=disable: refused",
                encoded(v)
            ))
        });
        plant(&kind, "AMQP URL", pattern, &|v| {
            configured(format!("broker: amqps://app:{}@mq:5671/x\n", encoded(v)))
        });
        plant(&kind, "Go DSN", pattern, &|v| {
            said(format!("open app:{v}@tcp(db:3306)/shop: refused"))
        });
        plant(
            &kind,
            "MongoDB URL in a variable",
            pattern,
            &|v| json!({"name": "URI", "value": format!("mongodb+srv://app:{}@c0.example.net/x", encoded(v))}),
        );
        plant(&kind, "netrc", pattern, &|v| {
            configured(format!("machine example.com\nlogin app\npassword {v}\n"))
        });
        plant(&kind, "redis.conf", pattern, &|v| {
            configured(format!("port 6379\nrequirepass {v}\nappendonly yes\n"))
        });
        plant(&kind, "SQL", pattern, &|v| {
            configured(format!(
                "CREATE USER app;\nALTER USER app IDENTIFIED BY '{v}';\n"
            ))
        });
        plant(&kind, "curl in arguments", pattern, &|v| {
            in_pod(json!({"command": ["curl", "-u", format!("app:{v}"), "https://example.com"]}))
        });
        plant(&kind, "Hadoop XML", pattern, &|v| {
            configured(format!(
                "<property>\n  <name>fs.s3a.secret.key</name>\n  <value>{v}</value>\n</property>\n"
            ))
        });
        plant(
            &kind,
            "data of a Secret",
            pattern,
            &|v| json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"x": v}}),
        );
        plant(
            &kind,
            "Secret in a Work",
            pattern,
            &|v| json!({"kind": "Work", "spec": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "Secret", "data": {"x": v}}]}}}),
        );
        plant(
            &kind,
            "Secret in an envelope",
            pattern,
            &|v| json!({"kind": "ResourceEnvelope", "data": {"s.yaml": {"apiVersion": "v1", "kind": "Secret", "data": {"x": v}}}}),
        );
        plant(&kind, "Secret in YAML", pattern, &|v| {
            configured(format!(
                "apiVersion: v1\nkind: Secret\nstringData:\n  x: {}\n",
                json!(v)
            ))
        });
        plant(&kind, "Secret in JSON", pattern, &|v| {
            annotated(json!({"apiVersion": "v1", "kind": "Secret", "data": {"x": v}}).to_string())
        });
        plant(&kind, "Secret in JSON after text", pattern, &|v| {
            said(format!(
                "cannot apply {}",
                json!({"apiVersion": "v1", "data": {"x": v}, "kind": "Secret"})
            ))
        });
        plant(&kind, "Secret in a patch after text", pattern, &|v| {
            said(format!(
                "cannot patch Secret with {}",
                json!(json!({"data": {"x": v}}).to_string())
            ))
        });
        plant(&kind, "Secret as Go prints it", pattern, &|v| {
            said(format!(
                "cannot apply &{{map[apiVersion:v1 data:map[x:{v}] kind:Secret metadata:map[name:db]]}}"
            ))
        });
        plant(&kind, "block of YAML", pattern, &|v| {
            configured(format!("db:\n  password: |\n    {v}\n  port: 1\n"))
        });
        plant(
            &kind,
            "drift of a Secret",
            pattern,
            &|v| json!({"status": {"diffedPlacements": [{"kind": "Secret", "observedDiffs": [{"path": "/data/x", "valueInHub": v}]}]}}),
        );
    }
    for place in ["sentence", "settings"] {
        let make = |text: String| {
            if place == "sentence" {
                said(text)
            } else {
                configured(text + "\n")
            }
        };
        plant("Authorization: Bearer", place, "{A32}", &|v| {
            make(format!("Authorization: Bearer {v}"))
        });
        plant("Authorization: token", place, "{H40}", &|v| {
            make(format!("Authorization: token {v}"))
        });
        plant("Authorization: ApiKey", place, "{A22}", &|v| {
            make(format!("Authorization: ApiKey {v}"))
        });
        plant("Authorization without scheme", place, "{A30}", &|v| {
            make(format!("Authorization: {v}"))
        });
        plant("Authorization in JSON", place, "{A30}", &|v| {
            make(format!(
                "request: {}",
                json!({"headers": {"Authorization": format!("Bearer {v}")}})
            ))
        });
        plant("Bearer in text", place, "{A12}9{A12}", &|v| {
            make(format!("got 401 with Bearer {v} from server"))
        });
        plant("Cookie", place, "{A32}", &|v| {
            make(format!("Cookie: session={v}; theme=dark"))
        });
        plant("curl -H", place, "{A32}", &|v| {
            make(format!("curl -H 'X-Api-Key: {v}' https://example.com"))
        });
        plant("curl -H Authorization", place, "{A32}", &|v| {
            make(format!(
                "curl -H \"Authorization: Bearer {v}\" https://example.com"
            ))
        });
        plant("SAS", place, "{A40}", &|v| {
            make(format!(
                "GET https://x.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig={v}%3D: 403"
            ))
        });
        plant("signed URL of S3", place, "{H64}", &|v| {
            make(format!(
                "GET https://b.s3.amazonaws.com/k?X-Amz-Date=20250101T000000Z&X-Amz-Signature={v}: 403"
            ))
        });
        plant("signed URL of GCS", place, "{H64}", &|v| {
            make(format!(
                "GET https://storage.googleapis.com/b/k?X-Goog-Date=1&X-Goog-Signature={v}: 403"
            ))
        });
        plant("Slack webhook", place, "T{U10}/B{U10}/{A24}", &|v| {
            make(format!("POST https://hooks.slack.com/services/{v} failed"))
        });
        plant("Discord webhook", place, "{D18}/{W68}", &|v| {
            make(format!("POST https://discord.com/api/webhooks/{v} failed"))
        });
        plant(
            "Teams webhook",
            place,
            "{H8}-{H4}-{H4}-{H4}-{H12}@{H8}-{H4}-{H4}-{H4}-{H12}/IncomingWebhook/{H32}/{H12}",
            &|v| {
                make(format!(
                    "POST https://x.webhook.office.com/webhookb2/{v} failed"
                ))
            },
        );
        plant("PagerDuty integration", place, "{H32}", &|v| {
            make(format!(
                "POST https://events.pagerduty.com/integration/{v}/enqueue failed"
            ))
        });
        plant("Feishu webhook", place, "{H8}-{H4}-{H4}-{H4}-{H12}", &|v| {
            make(format!(
                "POST https://open.feishu.cn/open-apis/bot/v2/hook/{v} failed"
            ))
        });
        plant("token in a URL", place, "{A40}", &|v| {
            make(format!("fetch https://{v}@github.com/a/b.git failed"))
        });
        plant("token and user in a URL", place, "{A40}", &|v| {
            make(format!(
                "fetch https://x-access-token:{v}@github.com/a/b.git failed"
            ))
        });
        plant("npmrc", place, "{A36}", &|v| {
            make(format!("//registry.example.com/:_authToken={v}"))
        });
    }
    let mut pair = |place, make: &dyn Fn(&str) -> Value| {
        let password = dice.fill("app:{A18}");
        let secret = in_base64(&password);
        planted.push(Planted {
            kind: "user and password in base64".to_owned(),
            place,
            object: make(&secret),
            secret,
        });
    };
    pair("Docker configuration", &|v| {
        configured(json!({"auths": {"registry.example.com": {"auth": v}}}).to_string())
    });
    pair("Docker configuration after text", &|v| {
        said(format!(
            "bad config: {}",
            json!({"auths": {"registry.example.com": {"auth": v}}})
        ))
    });
    pair("Docker configuration in YAML", &|v| {
        configured(format!("auths:\n  registry.example.com:\n    auth: {v}\n"))
    });
    pair("npmrc", &|v| {
        configured(format!("registry=https://example.com\n_auth={v}\n"))
    });
    pair("Authorization: Basic", &|v| {
        said(format!("401 with Authorization: Basic {v}"))
    });
    pair("Basic in JSON", &|v| {
        said(format!(
            "request {}",
            json!({"headers": {"Authorization": [format!("Basic {v}")]}})
        ))
    });
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let body = dice.fill("{B64}\n{B64}\n{B64}\n{B40}==");
        let pem =
            format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----\n");
        let line = body.lines().nth(1).unwrap_or_default().to_owned();
        let encoded = in_base64(&pem);
        let middle = encoded[100..160].to_owned();
        let kind = format!("{kind}private key");
        let mut plant = |place, object: Value, secret: &str| {
            planted.push(Planted {
                kind: kind.clone(),
                place,
                object,
                secret: secret.to_owned(),
            });
        };
        plant(
            "key of a ConfigMap",
            json!({"kind": "ConfigMap", "data": {"x": pem}}),
            &line,
        );
        plant("sentence", said(format!("cannot read {pem}")), &line);
        plant(
            "cut off",
            said(format!("cannot read {}", &pem[..pem.len() - 60])),
            &line,
        );
        plant(
            "JSON after text",
            said(format!("bad account: {}", json!({"k": pem}))),
            &line,
        );
        plant("JSON", configured(json!({"k": pem}).to_string()), &line);
        plant(
            "block of YAML",
            configured(format!("x:\n  k: |\n    {}", pem.replace('\n', "\n    "))),
            &line,
        );
        plant("base64", json!({"spec": {"x": encoded}}), &middle);
        plant(
            "kubeconfig",
            configured(format!(
                "users:\n- name: a\n  user:\n    client-key-data: {encoded}\n"
            )),
            &middle,
        );
        plant(
            "base64 in a sentence",
            said(format!("cannot decode {encoded}")),
            &middle,
        );
    }
}
