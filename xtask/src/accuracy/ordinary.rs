//! Ordinary objects: what clusters are full of, and what holds no secret although much of it looks
//! like one. Made like the planted ones, from a seed.

use serde_json::{Value, json};

use super::planted::Dice;

const APPS: &[&str] = &[
    "web",
    "cart",
    "payments-api",
    "auth-proxy",
    "token-issuer",
    "secret-sync",
    "keycloak",
    "passbolt",
    "kv-store",
    "session-cache",
    "oauth2-proxy",
    "vault",
];
const SPACES: &[&str] = &[
    "shop",
    "team-a",
    "kube-system",
    "auth",
    "secrets",
    "prod-eu",
];

/// What controllers, schedulers, kubelets and API servers write.
const MESSAGES: &[&str] = &[
    "Deployment @ exceeded its progress deadline",
    "secret \"@-tls\" not found",
    "secrets \"@-7d9f8c5b6\" is forbidden: User \"system:serviceaccount:@:default\" cannot get resource \"secrets\" in API group \"\" in the namespace \"@\"",
    "couldn't find key DB_PASSWORD in Secret @/@-credentials",
    "MountVolume.SetUp failed for volume \"kube-api-access-x7k2p\" : failed to fetch token: serviceaccounts \"@\" not found",
    "MountVolume.SetUp failed for volume \"@-secret\" : references non-existent secret key: tls.key",
    "Failed to pull image \"registry.example.com/@/@:1.2.3@sha256:#\": unexpected status from HEAD request: 401 Unauthorized",
    "failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://auth.docker.io/token?scope=repository%3Alibrary%2F@%3Apull&service=registry.docker.io: 401 Unauthorized",
    "Failed to apply manifest (error: Secret \"@-tls\" is invalid: type: Invalid value: \"kubernetes.io/tls\": field is immutable)",
    "Deployment.apps \"@\" is invalid: spec.template.spec.containers[0].env[3].valueFrom.secretKeyRef.key: Required value",
    "admission webhook \"vkey.@.example.com\" denied the request: token must not be mounted: set automountServiceAccountToken: false",
    "Get \"https://10.0.0.1:443/api/v1/namespaces/@/secrets/@-token-x9z7k?resourceVersion=123456&timeoutSeconds=30\": context deadline exceeded",
    "the server was unable to return a response in the time allotted, but may still be processing the request (get secrets)",
    "Manifest is trackable but not available yet (kind: Deployment, name: @, namespace: @)",
    "the password policy of @ requires 12 characters",
    "Unable to attach or mount volumes: unmounted volumes=[@-secrets], unattached volumes=[@-secrets kube-api-access-7d9f8]: timed out waiting for the condition",
    "0/3 nodes are available: 1 node(s) had untolerated taint {key: dedicated}, 2 Insufficient cpu. preemption: 0/3 nodes are available",
    "Readiness probe failed: Get \"http://10.244.1.17:8080/healthz?verbose=true\": dial tcp 10.244.1.17:8080: connect: connection refused",
    "back-off 5m0s restarting failed container=@ pod=@-7d9f8c5b6-x7k2p_@(#uid)",
    "clusterstagedupdaterun: the resource snapshot @-4-snapshot of hash # is not found",
    "conflict with \"kubectl-client-side-apply\" using apps/v1: .spec.template.spec.containers[name=\"@\"].image",
    "cluster member-1: token review failed: authentication handler returned no user",
    "the api key of the metrics server is rotated by cert-manager",
    "x509: certificate signed by unknown authority (possibly because of \"crypto/rsa: verification error\" while trying to verify candidate authority certificate \"@-ca\")",
    "Secret: @/@-tls is managed by another controller: cert-manager",
    "session affinity: ClientIP; keys: 4, tokens: 12; auth: none",
];

/// Settings of programs: nothing secret in them.
const FILES: &[(&str, &str)] = &[
    (
        "nginx.conf",
        "server {\n  listen 443 ssl;\n  ssl_certificate /etc/tls/tls.crt;\n  ssl_certificate_key /etc/tls/tls.key;\n  location / {\n    proxy_pass http://@:8080;\n    proxy_set_header Authorization $http_authorization;\n    auth_basic off;\n  }\n  location /php {\n    fastcgi_pass 127.0.0.1:9000;\n  }\n}\n",
    ),
    (
        "application.properties",
        "server.port=8080\nspring.datasource.url=jdbc:postgresql://db.@:5432/@\nspring.datasource.username=@\nspring.datasource.password=${DB_PASSWORD}\njwt.token.expiration=3600\nsecurity.oauth2.token-uri=https://auth.example.com/oauth/token\nkey.prefix=@:session\n",
    ),
    (
        "application.yaml",
        "server:\n  port: 8080\nspring:\n  security:\n    oauth2:\n      client:\n        client-id: @\n        client-secret: ${CLIENT_SECRET}\n        scope: openid\nmanagement:\n  endpoints:\n    keys-to-sanitize: password\ncache:\n  key-prefix: @\n",
    ),
    (
        "prometheus.yml",
        "global:\n  scrape_interval: 15s\nscrape_configs:\n- job_name: @\n  bearer_token_file: /var/run/secrets/kubernetes.io/serviceaccount/token\n  tls_config:\n    ca_file: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt\n    key_file: /etc/prometheus/tls.key\n  relabel_configs:\n  - source_labels: [__meta_kubernetes_pod_label_app]\n    regex: @\n    action: keep\n",
    ),
    (
        "config.toml",
        "[auth]\nenabled = true\ntoken_ttl = \"24h\"\npassword_min_length = 12\n\n[cache]\nkey = \"@\"\nhash_seed = 42\n",
    ),
    (
        "run.sh",
        "set -e\nexport PATH=/usr/local/bin:$PATH\nexport DB_PASSWORD=\"$(cat /run/secrets/db)\"\nexport TOKEN=${TOKEN:-}\nexec @ --token-file=/run/token --key-file /etc/tls/tls.key --password-stdin < /run/secrets/db\n",
    ),
    (
        "Corefile",
        ".:53 {\n  errors\n  health {\n    lameduck 5s\n  }\n  kubernetes cluster.local in-addr.arpa ip6.arpa\n  forward . /etc/resolv.conf\n}\n",
    ),
    (
        "policy.json",
        "{\"version\":\"2012-10-17\",\"statement\":[{\"effect\":\"allow\",\"action\":\"secretsmanager:GetSecretValue\",\"resource\":\"arn:aws:secretsmanager:eu-west-1:123456789012:secret:@-AbCdEf\"}]}",
    ),
    (
        "feature-flags.json",
        "{\"passwordless\":true,\"token_refresh\":\"lazy\",\"keys\":[\"a\",\"b\"],\"auth\":\"oidc\",\"credentials\":\"include\"}",
    ),
    (
        "README",
        "To log in, use your password.\nTokens are kept for an hour; the key of each entry is its name.\nSecrets: see the vault.\n",
    ),
    (
        "query.sql",
        "SELECT key, value FROM settings WHERE token_type = 'bearer' ORDER BY key;\n",
    ),
    (
        "log4j2.xml",
        "<Configuration>\n  <Appenders>\n    <Console name=\"console\"><PatternLayout pattern=\"%d %m%n\"/></Console>\n  </Appenders>\n  <Loggers><Root level=\"info\"/></Loggers>\n</Configuration>\n",
    ),
    (
        "cert.pem",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\nRTESMBAGA1UEChMJQmFsdGltb3JlMRMwEQYDVQQLEwpDeWJlclRydXN0MSIwIAYD\n-----END CERTIFICATE-----\n",
    ),
    (
        "key.pub",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7vbqajDhA4u0m0d7ZJqk8n9f2d3 @@example.com\n",
    ),
];

/// Fills `@` with names, `#uid` with a uid and `#` with a hash.
fn fill(dice: &mut Dice, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['@', '#']) {
        out.push_str(&rest[..at]);
        let sign = &rest[at..];
        rest = if let Some(rest) = sign.strip_prefix("#uid") {
            out.push_str(&uid(dice));
            rest
        } else if let Some(rest) = sign.strip_prefix("@sha256:#") {
            out.push_str(&dice.fill("@sha256:{H64}"));
            rest
        } else if let Some(rest) = sign.strip_prefix('@') {
            out.push_str(dice.pick::<&str>(APPS));
            rest
        } else {
            out.push_str(&dice.fill("{H64}"));
            &sign[1..]
        };
    }
    out + rest
}

fn uid(dice: &mut Dice) -> String {
    dice.fill("{H8}-{H4}-4{H3}-a{H3}-{H12}")
}

fn meta(dice: &mut Dice, name: &str) -> Value {
    json!({
        "name": name, "namespace": dice.pick(SPACES), "uid": uid(dice), "resourceVersion": dice.fill("{D7}"),
        "creationTimestamp": "2025-01-02T03:04:05Z", "generation": 3,
        "labels": {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": dice.pick(APPS), "pod-template-hash": dice.fill("{L10}"),
            "helm.sh/chart": format!("{name}-1.2.3"), "token": "blue"},
        "annotations": {"checksum/secret": dice.fill("{H64}"), "checksum/config": dice.fill("{H64}"),
            "deployment.kubernetes.io/revision": "3",
            "kubernetes-fleet.io/spec-hash": dice.fill("{H64}"),
            "kubernetes-fleet.io/last-applied-hash": dice.fill("{H64}"),
            "nginx.ingress.kubernetes.io/auth-secret": format!("{name}-basic-auth"),
            "cert-manager.io/private-key-algorithm": "ECDSA",
            "reloader.stakater.com/secret": format!("{name}-db")},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{name}-{}", dice.fill("{L10}")), "uid": uid(dice), "controller": true}],
        "managedFields": [{"manager": "kubectl-client-side-apply", "operation": "Update", "time": "2025-01-02T03:04:05Z"}],
    })
}

fn container(dice: &mut Dice, name: &str) -> Value {
    json!({
        "name": name,
        "image": dice.fill(&format!("registry.example.com/team/{name}:1.2.3@sha256:{{H64}}")),
        "args": ["serve", "--port=8080", "--token-file", "/var/run/secrets/token", "--key", "/etc/tls/tls.key", "--auth-mode=oidc", "--secret-name", format!("{name}-tls"), "-v", "2"],
        "env": [
            {"name": "DB_HOST", "value": format!("db.{name}.svc:5432")},
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": format!("{name}-db"), "key": "password"}}},
            {"name": "TOKEN_FILE", "value": "/var/run/secrets/token"},
            {"name": "SECRET_NAME", "value": format!("{name}-tls")},
            {"name": "AUTH_ENABLED", "value": "true"},
            {"name": "KEY_PREFIX", "value": format!("{name}:session")},
            {"name": "JWT_ISSUER", "value": "https://auth.example.com/realms/shop"},
            {"name": "TOKEN_TTL", "value": "24h"},
            {"name": "MAX_TOKENS", "value": "4096"},
            {"name": "PASSWORD", "value": "$(DB_PASSWORD)"},
            {"name": "PUBLIC_KEY", "value": dice.fill("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B43}")},
            {"name": "GIT_COMMIT", "value": dice.fill("{H40}")},
            {"name": "PWD", "value": "/app"},
        ],
        "envFrom": [{"secretRef": {"name": format!("{name}-env")}}],
        "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}},
        "readinessProbe": {"httpGet": {"path": "/healthz?key=ready", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets/tokens", "readOnly": true}, {"name": "tls-key", "mountPath": "/etc/tls"}],
        "terminationMessagePath": "/dev/termination-log",
    })
}

/// All ordinary objects of a seed.
pub fn all(seed: u64) -> Vec<Value> {
    let mut dice = Dice::new(seed);
    let dice = &mut dice;
    let mut objects = Vec::new();
    for _ in 0..25 {
        for app in APPS {
            let app = *app;
            objects.push(json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(dice, app),
                "spec": {"replicas": 3, "selector": {"matchLabels": {"app": app}}, "template": {"metadata": meta(dice, app), "spec": {
                    "serviceAccountName": app, "automountServiceAccountToken": false,
                    "imagePullSecrets": [{"name": "regcred"}],
                    "containers": [container(dice, app), container(dice, "sidecar")],
                    "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}]}},
                        {"name": "tls-key", "secret": {"secretName": format!("{app}-tls"), "items": [{"key": "tls.key", "path": "tls.key"}]}}],
                    "topologySpreadConstraints": [{"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1}],
                    "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]}}},
            }));
            let (file, text) = *dice.pick(FILES);
            let text = if file == "key.pub" {
                text.to_owned()
            } else {
                fill(dice, text)
            };
            objects.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(dice, app), "data": {file: text, "LOG_LEVEL": "info", "token-audience": "https://kubernetes.default.svc"}}));
            objects.push(json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": meta(dice, app), "spec": {
                "tls": [{"hosts": [format!("{app}.example.com")], "secretName": format!("{app}-tls")}],
                "rules": [{"host": format!("{app}.example.com"), "http": {"paths": [{"path": "/token", "pathType": "Prefix", "backend": {"service": {"name": app, "port": {"number": 80}}}}]}}]}}));
            objects.push(json!({"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": meta(dice, app), "spec": {
                "secretStoreRef": {"name": "vault", "kind": "ClusterSecretStore"}, "target": {"name": format!("{app}-db")},
                "data": [{"secretKey": "db-password", "remoteRef": {"key": format!("kv/{app}"), "property": "password"}}]}}));
            objects.push(json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": meta(dice, app), "spec": {
                "secretName": format!("{app}-tls"), "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"}, "usages": ["digital signature", "key encipherment"]}}));
            objects.push(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta(dice, app), "rules": [
                {"apiGroups": [""], "resources": ["secrets", "serviceaccounts/token", "configmaps"], "resourceNames": [format!("{app}-token")], "verbs": ["get"]}]}));
            objects.push(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("{app}s.example.com")}, "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
                "description": "Password: the password with which it logs in.\nToken is the token of the API; key: a name.",
                "required": ["password", "tokenSecretRef"],
                "properties": {"password": {"type": "string", "description": "The password, as plain text.", "format": "password"}, "tokenSecretRef": {"type": "object"},
                    "secret": {"type": "string", "description": "secret: the name of the Secret."}}}}}]}}));
            objects.push(json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": app}, "webhooks": [{"clientConfig": {
                "caBundle": dice.fill("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUR{B400}="), "service": {"name": app, "path": "/validate"}}}]}));
            let conditions: Vec<Value> = (0..4).map(|_| {
                let text = *dice.pick(MESSAGES);
                json!({"type": "Applied", "status": "False", "reason": "ManifestApplyFailed", "observedGeneration": 3, "lastTransitionTime": "2025-01-02T03:04:05Z", "message": fill(dice, text)})
            }).collect();
            objects.push(json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourceBinding", "metadata": meta(dice, app),
                "spec": {"resourceSnapshotName": format!("{app}-4-snapshot"), "targetCluster": "member-1", "schedulingPolicySnapshotName": format!("{app}-0")},
                "status": {"conditions": conditions}}));
            let text = *dice.pick(MESSAGES);
            objects.push(json!({"apiVersion": "v1", "kind": "Event", "metadata": meta(dice, app), "reason": "FailedMount", "message": fill(dice, text), "involvedObject": {"kind": "Pod", "name": format!("{app}-{}", dice.fill("{L10}")), "uid": uid(dice)}}));
            objects.push(json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta(dice, app), "binaryData": {"logo.png": dice.fill("iVBORw0KGgoAAAANSUhEUgAA{B300}=")}, "data": {"data.b64": dice.fill("{B120}=="), "version": "v1.2.3", "checksum": dice.fill("{H64}"), "endpoint": "https://example.com/v1/tokens?limit=10&sort=key"}}));
        }
    }
    objects
}
