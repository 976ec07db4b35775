//! The kubeconfigs of the table.
//!
//! `@NAME` stands for what a run of the table makes: addresses of servers (`@tls`, `@plain`, …),
//! base64 of certificates (`@ca`, `@client`, …), and the folder (`@dir`), which holds `token` (with a
//! newline at its end), `empty`, the same certificates, and the plugins in `bin`.

/// A kubeconfig, and where the two programs may differ.
pub struct Case {
    pub name: &'static str,
    /// The inside of the cluster's mapping.
    pub cluster: &'static str,
    /// The inside of the user's mapping.
    pub user: &'static str,
    pub flags: &'static [&'static str],
    /// The whole text, where that is odd.
    pub text: &'static str,
    pub variables: &'static [(&'static str, &'static str)],
    /// Why the two differ.
    pub differs: &'static str,
}

const fn case(name: &'static str, cluster: &'static str, user: &'static str) -> Case {
    Case {
        name,
        cluster,
        user,
        flags: &[],
        text: "",
        variables: &[],
        differs: "",
    }
}

impl Case {
    const fn flags(mut self, flags: &'static [&'static str]) -> Self {
        self.flags = flags;
        self
    }

    const fn with(mut self, variables: &'static [(&'static str, &'static str)]) -> Self {
        self.variables = variables;
        self
    }

    const fn differs(mut self, why: &'static str) -> Self {
        self.differs = why;
        self
    }
}

const fn text(name: &'static str, text: &'static str) -> Case {
    let mut case = case(name, "", "");
    case.text = text;
    case
}

const TLS: &str = "server: @tls, certificate-authority-data: @ca";
const PLAIN: &str = "server: @plain";
const ASKS: &str = "kubectl asks for a name and a password";
const DENY: &[(&str, &str)] = &[("KUBERC", "@dir/deny")];
const LIST: &[(&str, &str)] = &[("KUBERC", "@dir/list")];

pub const CASES: &[Case] = &[
    // Who asks.
    case("a token", TLS, "token: one"),
    case("a token with a newline", TLS, "token: \"one\\n\""),
    case("a token with spaces around it", TLS, "token: ' one '"),
    case("a token that is a number", TLS, "token: 17"),
    case("a token that is yes", TLS, "token: yes"),
    case("an empty token", TLS, "token: ''").differs(ASKS),
    case("a token outside ASCII", TLS, "token: 't\u{f6}ken'"),
    case("a tokenFile", TLS, "tokenFile: @dir/token"),
    case("a tokenFile relative to the kubeconfig", TLS, "tokenFile: token"),
    case("a tokenFile beside a token", TLS, "token: one, tokenFile: token"),
    case("a missing tokenFile", TLS, "tokenFile: missing"),
    case("a missing tokenFile beside a token", TLS, "token: one, tokenFile: missing"),
    case("an empty tokenFile", TLS, "tokenFile: empty"),
    case("a name and a password", TLS, "username: jane, password: secret"),
    case("a name alone", TLS, "username: jane"),
    case("a password alone", TLS, "password: secret").differs(ASKS),
    case("a token and a password", TLS, "token: one, username: jane, password: secret"),
    case("a tokenFile and a password", TLS, "tokenFile: token, username: jane, password: secret"),
    case("nobody", TLS, "").differs(ASKS),
    // Certificates of the user.
    case("a client certificate", TLS, "client-certificate-data: @client, client-key-data: @key"),
    case("a client certificate in files", TLS, "client-certificate: client.crt, client-key: client.key"),
    case("a client certificate and a token", TLS, "token: one, client-certificate-data: @client, client-key-data: @key"),
    case("a client certificate without a key", TLS, "client-certificate-data: @client"),
    case("a key without a client certificate", TLS, "client-key-data: @key").differs(ASKS),
    case("a client certificate with another key", TLS, "client-certificate-data: @client, client-key-data: @other-key"),
    case("a client certificate twice", TLS, "client-certificate-data: @client, client-certificate: client.crt, client-key-data: @key"),
    case("a client key twice", TLS, "client-certificate-data: @client, client-key: client.key, client-key-data: @key"),
    case("a client certificate that is not base64", TLS, "client-certificate-data: '!', client-key-data: @key"),
    case("a client certificate that is not PEM", TLS, "client-certificate-data: AAAA, client-key-data: @key"),
    case("a missing client certificate", TLS, "client-certificate: missing, client-key: client.key"),
    // Impersonation.
    case("another user", TLS, "token: one, as: john"),
    case("another user with all fields", TLS, "token: one, as: john, as-uid: '17', as-groups: [ops, dev], as-user-extra: {Reason: [a, b]}"),
    case("groups without a user", TLS, "token: one, as-groups: [ops]"),
    case("a uid without a user", TLS, "token: one, as-uid: '17'"),
    case("extra fields without a user", TLS, "token: one, as-user-extra: {reason: [a]}"),
    case("another user with a newline", TLS, "token: one, as: \"john\\n\""),
    case("--as", TLS, "token: one").flags(&["--as=john"]),
    case("--as over another", TLS, "token: one, as: jim, as-groups: [dev]").flags(&["--as=john"]),
    case("--as-group alone", TLS, "token: one").flags(&["--as-group=ops"]),
    case("--as and --as-group and --as-uid", TLS, "token: one").flags(&["--as=john", "--as-group=ops", "--as-uid=17"]),
    // Plain HTTP.
    case("a token over http://", PLAIN, "token: one"),
    case("a tokenFile over http://", PLAIN, "tokenFile: token"),
    case("a missing tokenFile over http://", PLAIN, "tokenFile: missing"),
    case("a password over http://", PLAIN, "username: jane, password: secret"),
    case("a plugin over http://", PLAIN, "exec: @plugin"),
    case("another user over http://", PLAIN, "token: one, as: john"),
    case("--token over http://", PLAIN, "").flags(&["--token=one"]),
    case("a password in an http:// address", "server: 'http://jane:secret@@plain-place'", "")
        .differs("a password is not sent unencrypted"),
    // Addresses.
    case("an address without a scheme", "server: @plain-place", "token: one"),
    case("an address without a scheme, with an authority", "server: @plain-place, certificate-authority-data: @ca", "token: one"),
    case("--server without a scheme", TLS, "token: one").flags(&["--server=@plain-place"]),
    case("an address with a path", "server: @tls/a/b, certificate-authority-data: @ca", "token: one"),
    case("an address with a query", "server: '@tls?a=b', certificate-authority-data: @ca", "token: one"),
    case("an upper-case scheme", "server: 'HTTPS://@tls-place', certificate-authority-data: @ca", "token: one"),
    case("a password in the address", "server: 'https://jane:secret@@tls-place', certificate-authority-data: @ca", "").differs(ASKS),
    case("a password in the address beside a token", "server: 'https://jane:secret@@tls-place', certificate-authority-data: @ca", "token: one"),
    case("an address with a space", "server: 'https://a b', certificate-authority-data: @ca", "token: one"),
    case("an address with another scheme", "server: 'ftp://127.0.0.1'", "token: one"),
    case("an address with a port that is not a number", "server: 'https://127.0.0.1:port'", "token: one"),
    case("an address with a port that is too large", "server: 'https://127.0.0.1:65536'", "token: one"),
    case("no server", "certificate-authority-data: @ca", "token: one"),
    case("a broken proxy", "server: @tls, certificate-authority-data: @ca, proxy-url: 'ftp://127.0.0.1'", "token: one"),
    case("an http:// address of a TLS server", "server: 'http://@tls-place'", "token: one"),
    case("an https:// address of a plain server", "server: 'https://@plain-place', certificate-authority-data: @ca", "token: one"),
    // Whom to trust.
    case("an authority in a file", "server: @tls, certificate-authority: ca.crt", "token: one"),
    case("no authority", "server: @tls", "token: one"),
    case("another authority", "server: @tls, certificate-authority-data: @other-ca", "token: one"),
    case("an authority twice", "server: @tls, certificate-authority: ca.crt, certificate-authority-data: @ca", "token: one"),
    case("a missing authority", "server: @tls, certificate-authority: missing", "token: one"),
    case("an authority that is not PEM", "server: @tls, certificate-authority-data: AAAA", "token: one"),
    case("an authority that is not base64", "server: @tls, certificate-authority-data: '!'", "token: one"),
    case("no check at all", "server: @tls, insecure-skip-tls-verify: true", "token: one"),
    case("no check at all, and an authority", "server: @tls, insecure-skip-tls-verify: true, certificate-authority-data: @ca", "token: one"),
    case("--insecure-skip-tls-verify, and an authority", "server: @tls, certificate-authority-data: @other-ca", "token: one").flags(&["--insecure-skip-tls-verify"]),
    case("a self-signed certificate that is its own authority", "server: @alone, certificate-authority-data: @alone-ca", "token: one"),
    case("the same, which may also sign", "server: @signing, certificate-authority-data: @signing-ca", "token: one"),
    case("a server's certificate as its own authority", "server: @tls, certificate-authority-data: @server-ca", "token: one"),
    case("a self-signed certificate without an authority", "server: @alone", "token: one"),
    case("an expired certificate", "server: @expired, certificate-authority-data: @ca", "token: one"),
    case("a certificate that is not valid yet", "server: @early, certificate-authority-data: @ca", "token: one"),
    case("a certificate for another host", "server: @elsewhere, certificate-authority-data: @ca", "token: one"),
    case("the same with tls-server-name", "server: @elsewhere, certificate-authority-data: @ca, tls-server-name: elsewhere.example", "token: one"),
    case("tls-server-name of another host", "server: @tls, certificate-authority-data: @ca, tls-server-name: elsewhere.example", "token: one"),
    case("--server drops tls-server-name", "server: 'https://127.0.0.1:1', certificate-authority-data: @ca, tls-server-name: elsewhere.example", "token: one").flags(&["--server=@tls"]),
    case("a certificate without hosts", "server: @nameless, certificate-authority-data: @ca", "token: one"),
    case("a certificate for clients", "server: @for-clients, certificate-authority-data: @ca", "token: one"),
    // Plugins.
    case("a plugin", TLS, "exec: @plugin"),
    case("a plugin that gives a certificate", TLS, "exec: {command: certify, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"),
    case("a plugin beside a token", TLS, "token: one, exec: @plugin"),
    case("a plugin beside a client certificate", TLS, "client-certificate-data: @client, client-key-data: @key, exec: @plugin"),
    case("a plugin and --token", TLS, "exec: @plugin").flags(&["--token=one"]),
    case("--token over a tokenFile", TLS, "tokenFile: token").flags(&["--token=one"]).differs("a flag takes precedence over a file"),
    case("--token over a password", TLS, "username: jane, password: secret").flags(&["--token=one"]),
    case("a plugin that gives nothing", TLS, "exec: {command: nothing, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"),
    case("a plugin that fails", TLS, "exec: {command: fails, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"),
    case("a plugin that is not installed", TLS, "exec: {command: no-such-plugin, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, installHint: install it}"),
    case("a plugin of another version", TLS, "exec: {command: login, apiVersion: client.authentication.k8s.io/v1beta1}"),
    case("a plugin of v1beta1", TLS, "exec: {command: beta, apiVersion: client.authentication.k8s.io/v1beta1}"),
    case("a plugin of v1alpha1", TLS, "exec: {command: login, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never}"),
    case("a plugin without apiVersion", TLS, "exec: {command: login, interactiveMode: Never}"),
    case("a plugin of v1 without interactiveMode", TLS, "exec: {command: login, apiVersion: client.authentication.k8s.io/v1}"),
    case("a plugin that needs a terminal", TLS, "exec: {command: login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}"),
    case("a plugin that gets the cluster's data", "server: @tls, certificate-authority-data: @ca, extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: me}}]", "exec: {command: tell, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, provideClusterInfo: true}"),
    case("a plugin with arguments and variables", TLS, "exec: {command: repeat, args: [a b], env: [{name: WHAT, value: c}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"),
    case("a plugin in a folder beside the kubeconfig", TLS, "exec: {command: bin/login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"),
    case("kuberc: DenyAll", TLS, "exec: @plugin").with(DENY),
    case("kuberc: DenyAll, and a token", TLS, "token: one, exec: @plugin").with(DENY),
    case("kuberc: Allowlist with the plugin", TLS, "exec: @plugin").with(LIST),
    case("kuberc: Allowlist without the plugin", TLS, "exec: {command: beta, apiVersion: client.authentication.k8s.io/v1beta1}").with(LIST),
    case("kuberc: an unknown policy", TLS, "exec: @plugin").with(&[("KUBERC", "@dir/odd")]),
    case("kuberc that is missing", TLS, "exec: @plugin").with(&[("KUBERC", "@dir/missing")]),
    case("kuberc that is turned off", TLS, "exec: @plugin").with(&[("KUBERC", "@dir/deny"), ("KUBECTL_KUBERC", "false")]),
    // What was built in once.
    case("auth-provider oidc without a token", TLS, "auth-provider: {name: oidc, config: {client-id: a, idp-issuer-url: 'https://127.0.0.1:1'}}"),
    case("auth-provider gcp", TLS, "auth-provider: {name: gcp}"),
    case("auth-provider of an unknown name", TLS, "auth-provider: {name: odd}"),
    case("auth-provider and exec", TLS, "auth-provider: {name: oidc}, exec: @plugin"),
    // Whole files.
    text("an empty file", ""),
    text("no current context", "clusters: [{name: c, cluster: {server: @tls}}]"),
    text("a current context that is missing", "current-context: x"),
    text("a context without its cluster", "current-context: c\ncontexts: [{name: c, context: {cluster: x, user: u}}]"),
    text("a context without its user", "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: x}}]\nclusters: [{name: c, cluster: {server: @tls, certificate-authority-data: @ca}}]").differs(ASKS),
    text("a file that is not YAML", "users: [{name: u, user: {token: secret"),
    text("a file of another kind", "apiVersion: v1\nkind: Secret\ncurrent-context: c"),
    text("a list where a mapping belongs", "users: [[secret]]"),
    text("a user that is given twice", "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: @tls, certificate-authority-data: @ca}}]\nusers: [{name: u, user: {token: one}}, {name: u, user: {token: two}}]"),
    text("a key that is given twice", "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: @tls, certificate-authority-data: @ca}}]\nusers: [{name: u, user: {token: one, token: two}}]"),
    text("several documents", "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: @tls, certificate-authority-data: @ca}}]\nusers: [{name: u, user: {token: one}}]\n---\ncurrent-context: d"),
    text("unknown fields", "odd: 1\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u, odd: 1}}]\nclusters: [{name: c, cluster: {server: @tls, certificate-authority-data: @ca, odd: 1}}]\nusers: [{name: u, user: {token: one, odd: 1}}]"),
    text("nulls", "preferences: null\nextensions: null\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u, namespace: null}}]\nclusters: [{name: c, cluster: {server: @tls, certificate-authority-data: @ca, tls-server-name: null}}]\nusers: [{name: u, user: {token: one, exec: null, username: null}}]"),
    text("a user nobody asks for, whose token is a number", "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: @tls, certificate-authority-data: @ca}}]\nusers: [{name: u, user: {token: one}}, {name: v, user: {token: 17}}]"),
    case("--context that is missing", TLS, "token: one").flags(&["--context=x"]),
    case("--user that is missing", TLS, "token: one").flags(&["--user=x"]),
    case("--cluster that is missing", TLS, "token: one").flags(&["--cluster=x"]),
];
