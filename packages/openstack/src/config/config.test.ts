import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CausewayError } from "@causeway/foundation";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { parseCloudConf } from "./cloud-conf.ts";
import { loadCloudsYaml, renderCloudsYaml } from "./clouds-yaml.ts";
import type { CloudConfig } from "./config.ts";
import { environmentConfig } from "./environment.ts";

const root = mkdtempSync(join(tmpdir(), "clouds-"));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
/** A directory with these files; a home without any. */
function files(content: Record<string, string>): { directory: string; env: Record<string, string> } {
  const base = join(root, String(folders++));
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  return { directory: join(base, "work"), env: { HOME: join(base, "home") } };
}

function failure(run: () => unknown): CausewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof CausewayError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const entry = (name: string, password = "secret") => `
clouds:
  ${name}:
    auth:
      auth_url: https://keystone.example.org/v3
      username: demo
      password: ${password}
      project_name: demo
      user_domain_name: Default
      project_domain_name: Default
    region_name: RegionOne
`;
const demo: CloudConfig = {
  name: "one",
  authUrl: "https://keystone.example.org/v3",
  auth: { type: "password", username: "demo", password: "secret", userDomain: { name: "Default" } },
  scope: { projectName: "demo", projectDomain: { name: "Default" } },
  region: "RegionOne",
};

describe("clouds.yaml is found", () => {
  it("in the working directory before the home directory", () => {
    const at = files({ "work/clouds.yaml": entry("one"), "home/.config/openstack/clouds.yaml": entry("two") });
    expect(loadCloudsYaml({ ...at, cloud: "one" })).toEqual(demo);
  });
  it("in the home directory, also as .yml", () => {
    const at = files({ "home/.config/openstack/clouds.yml": entry("two") });
    expect(loadCloudsYaml(at).name).toBe("two");
  });
  it("where OS_CLIENT_CONFIG_FILE says, with the cloud that OS_CLOUD says", () => {
    const at = files({ "work/clouds.yaml": entry("one"), "other.yaml": entry("two") });
    const env = { ...at.env, OS_CLIENT_CONFIG_FILE: join(at.directory, "../other.yaml"), OS_CLOUD: "two" };
    expect(loadCloudsYaml({ ...at, env }).name).toBe("two");
  });
  it("where it is found, when OS_CLIENT_CONFIG_FILE is empty", () => {
    const at = files({ "work/clouds.yaml": entry("one") });
    expect(loadCloudsYaml({ ...at, env: { ...at.env, OS_CLIENT_CONFIG_FILE: "" } }).name).toBe("one");
  });
  it("nowhere: the error names the places that were searched", () => {
    const at = files({});
    const error = failure(() => loadCloudsYaml({ ...at, path: join(at.directory, "none.yaml") }));
    expect(error.code).toBe("CLOUDS_YAML_NOT_FOUND");
    expect(error.message).toContain(join(at.directory, "none.yaml"));
    expect(
      failure(() => loadCloudsYaml({ ...at, env: { ...at.env, OS_CLIENT_CONFIG_FILE: "/no" } })).message,
    ).toContain("/no");
  });
});

describe("an entry of clouds.yaml", () => {
  it("that does not exist: the hint names the entries that do", () => {
    const error = failure(() => loadCloudsYaml({ text: entry("one"), cloud: "two" }));
    expect(error).toMatchObject({ code: "CLOUD_NOT_FOUND", hint: expect.stringContaining("one") });
    const typo = failure(() => loadCloudsYaml({ text: entry("production"), cloud: "prodution" }));
    expect(typo.message).toMatch(/; is "production" meant\?$/);
  });

  it("in a file that is not YAML: the place, and nothing of its content", () => {
    const error = failure(() => loadCloudsYaml({ text: "a: b\n c: d: secret\n", cloud: "a" }));
    expect(error.message).toMatch(/at line \d+, column \d+\.$/);
    expect(error.hint).toBeDefined();
  });
  it("need not be chosen if it is the only one", () => {
    expect(loadCloudsYaml({ text: entry("one"), env: {} }).name).toBe("one");
    const two = `${entry("one")}  two: {}\n`;
    expect(failure(() => loadCloudsYaml({ text: two, env: {} })).hint).toContain("one, two");
  });
  it("gets its secrets from secure.yaml next to it", () => {
    const secure = "clouds: { one: { auth: { password: better } } }";
    const at = files({ "work/clouds.yaml": entry("one"), "work/secure.yaml": secure });
    expect(loadCloudsYaml(at).auth).toMatchObject({ password: "better", username: "demo" });
  });
  it("overrides the profile that it names", () => {
    const text = "clouds: { mine: { profile: vendor, auth: { username: u, password: p } } }";
    const vendor =
      "public-clouds: { vendor: { auth: { auth_url: 'https://vendor' }, region_name: R, interface: internal } }";
    const at = files({ "work/clouds.yaml": text, "work/clouds-public.yaml": vendor });
    expect(loadCloudsYaml(at)).toMatchObject({ authUrl: "https://vendor", region: "R", interface: "internal" });
  });
  it("prefers the certificate authority of a Secret to its own", () => {
    expect(loadCloudsYaml({ text: entry("one"), ca: "PEM" }).tls).toEqual({ ca: "PEM" });
  });

  const read = (fields: string) =>
    loadCloudsYaml({ text: `clouds:\n  c:\n${fields.replace(/^/gm, "    ")}`, env: { HOME: "/home/me" } });
  it.each([
    ["a token", "auth: {auth_url: u, token: t}", { auth: { type: "token", token: "t" } }],
    [
      "an application credential",
      "auth: {auth_url: u, application_credential_id: i, application_credential_secret: s}",
      { auth: { type: "application_credential", id: "i", secret: "s" } },
    ],
    [
      "an application credential by name",
      "auth_type: v3applicationcredential\nauth: {auth_url: u, username: n, user_domain_id: d, application_credential_name: i, application_credential_secret: s}",
      { auth: { type: "application_credential", name: "i", secret: "s", username: "n", userDomain: { id: "d" } } },
    ],
    ["a password of digits", "auth: {auth_url: u, username: n, password: 12345}", { auth: { password: "12345" } }],
    [
      "one domain for both",
      "auth: {auth_url: u, username: n, password: p, project_name: q, domain_id: d}",
      { auth: { userDomain: { id: "d" } }, scope: { projectDomain: { id: "d" } } },
    ],
    ["a tenant of old", "auth: {auth_url: u, username: n, password: p, tenant_id: t}", { scope: { projectId: "t" } }],
    ["a trust", "auth: {auth_url: u, username: n, password: p, trust_id: t}", { scope: { trustId: "t" } }],
    [
      "TLS settings",
      "verify: false\ncacert: ~/ca.pem\ncert: c.pem\nkey: k.pem\nauth: {auth_url: u, token: t}",
      { tls: { verify: false, caFile: "/home/me/ca.pem", certificateFile: "c.pem", keyFile: "k.pem" } },
    ],
    [
      "an authority in place",
      "cacert: '-----BEGIN CERTIFICATE-----'\nauth: {auth_url: u, token: t}",
      { tls: { ca: "-----BEGIN CERTIFICATE-----" } },
    ],
    ["an interface of old", "endpoint_type: internalURL\nauth: {auth_url: u, token: t}", { interface: "internal" }],
    [
      "an endpoint of its own",
      "load_balancer_endpoint_override: http://lb\nauth: {auth_url: u, token: t}",
      { endpointOverrides: { "load-balancer": "http://lb" } },
    ],
    ["one region in a list", "regions: [{name: R}]\nauth: {auth_url: u, token: t}", { region: "R" }],
  ])("may have %s", (_name, fields, expected) => expect(read(fields)).toMatchObject(expected));

  it.each([
    ["auth: {username: n, password: hunter2}", "auth.auth_url is missing"],
    ["auth: {auth_url: u, username: n}", "auth.password is missing"],
    ["auth: {auth_url: u, password: hunter2}", "auth.username is missing"],
    ["auth_type: v3kerberos\nauth: {auth_url: u}", "auth_type v3kerberos is not supported"],
    ["interface: outside\nauth: {auth_url: u, token: hunter2}", "interface outside"],
    ["auth: {auth_url: u, application_credential_secret: hunter2}", "application_credential_id is missing"],
  ])("with %j says what is wrong, and no secret", (fields, message) => {
    const error = failure(() => read(fields));
    expect(error.code).toBe("CLOUD_CONFIG_INVALID");
    expect(error.message).toContain(message);
    expect(`${error.message} ${error.hint}`).not.toContain("hunter2");
  });

  it.each(["", "clouds: []", "other: 1", "clouds:\n  one: {password: 'hunter2\n"])("is not read from %j", (text) => {
    const error = failure(() => loadCloudsYaml({ text, cloud: "one" }));
    expect(error.code).toBe("CLOUDS_YAML_INVALID");
    expect(error.stack).not.toContain("hunter2");
  });
});

describe("renderCloudsYaml", () => {
  it("writes what loadCloudsYaml reads back", { timeout: 300_000 }, () => {
    const text = fc.stringMatching(/^\S(.*\S)?$/);
    const domain = fc.oneof(fc.record({ id: text }), fc.record({ name: text }));
    const user = fc.record({ username: text, userDomain: domain });
    const auth = fc.oneof(
      fc.tuple(user, text).map(([u, password]) => ({ type: "password" as const, ...u, password })),
      text.map((token) => ({ type: "token" as const, token })),
      fc.tuple(text, text).map(([id, secret]) => ({ type: "application_credential" as const, id, secret })),
      fc
        .tuple(user, text, text)
        .map(([u, name, secret]) => ({ type: "application_credential" as const, name, secret, ...u })),
    );
    const config = fc.record(
      {
        name: fc.stringMatching(/^[a-z][a-z0-9-]*$/),
        authUrl: fc.webUrl(),
        auth,
        scope: fc.oneof(fc.record({ projectId: text }), fc.record({ projectName: text, projectDomain: domain })),
        region: text,
        interface: fc.constantFrom("public" as const, "internal" as const, "admin" as const),
        tls: fc.record({ ca: text.map((t) => `-----BEGIN CERTIFICATE-----\n${t}\n`), verify: fc.constant(false) }),
      },
      { requiredKeys: ["name", "authUrl", "auth"] },
    );
    fc.assert(
      fc.property(config, (original) => {
        const rendered = renderCloudsYaml(original as CloudConfig);
        expect(loadCloudsYaml({ text: rendered, cloud: original.name, env: {} })).toEqual(original);
      }),
    );
  });
});

describe("cloud.conf", () => {
  const conf = `[Global]
auth-url = https://keystone.example.org/v3
username = demo
password = "se;cret"
tenant-name = demo
tenant-domain-name = Default
user-domain-name = Default
region = RegionOne
os-endpoint-type = internal
ca-file = /etc/ca.pem
unknown-key = is fine
[LoadBalancer]
enabled = true
`;
  it("has the cloud in [Global]", () => {
    expect(parseCloudConf(conf, { env: {} })).toEqual({
      ...demo,
      name: "cloud.conf",
      auth: { ...demo.auth, password: "se;cret" },
      interface: "internal",
      tls: { caFile: "/etc/ca.pem" },
    });
  });
  it("may have a trustee", () => {
    const text = "[Global]\nauth-url=u\ntrust-id=t\ntrustee-id=i\ntrustee-password=p\ntls-insecure";
    expect(parseCloudConf(text, { env: {} })).toMatchObject({
      auth: { type: "password", userId: "i", password: "p" },
      scope: { trustId: "t" },
      tls: { verify: false },
    });
  });
  it("leaves to clouds.yaml what it does not say, with use-clouds", () => {
    const at = files({ "work/clouds.yaml": entry("one") });
    const text = "[Global]\nuse-clouds = true\ncloud = one\nregion = Other";
    expect(parseCloudConf(text, at)).toEqual({ ...demo, region: "Other" });
  });
  it("needs both halves of a client certificate", () => {
    const text = "[Global]\nauth-url=u\ntoken=t\ncert-file=c";
    expect(failure(() => parseCloudConf(text, { env: {} })).message).toContain("cert-file and key-file");
  });
  it("without [Global] is refused with the name of the missing section", () => {
    expect(failure(() => parseCloudConf("[Other]\n", { env: {} })).message).toContain("auth_url");
  });
});

describe("OS_ variables", () => {
  it("describe a cloud as an openrc file does", () => {
    const env = {
      OS_AUTH_URL: "https://keystone.example.org/v3",
      OS_USERNAME: "demo",
      OS_PASSWORD: "secret",
      OS_PROJECT_NAME: "demo",
      OS_USER_DOMAIN_NAME: "Default",
      OS_PROJECT_DOMAIN_NAME: "Default",
      OS_REGION_NAME: "RegionOne",
      OS_CACERT: "/ca.pem",
      OS_IDENTITY_API_VERSION: "3",
      PATH: "/bin",
    };
    expect(environmentConfig(env)).toEqual({ ...demo, name: "environment", tls: { caFile: "/ca.pem" } });
  });
  it("without OS_AUTH_URL describe none", () => {
    expect(environmentConfig({ OS_USERNAME: "demo" })).toBeUndefined();
  });
});
