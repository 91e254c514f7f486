import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { secretData, type KubeObject, type Secret } from "@causeway/kubernetes";
import { beforeAll, describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { tlsPortOf } from "../config/index.ts";
import type { Observed } from "./gather.ts";
import { covers, hostsOf, planTls } from "./tls.ts";

const DAY = 86_400_000;
const now = Date.UTC(2026, 0, 1);
type Spec = Observed["deployment"]["spec"];

const spec: Spec = {
  release: "2025.1",
  region: "RegionOne",
  domain: "cloud.example.org",
  nodeGroups: [{ name: "all", nodeSelector: { role: "all" }, roles: ["Control", "Network", "Compute"] }],
};
type Tls = NonNullable<Spec["tls"]>;
const deployment = (tls: Tls): Observed["deployment"] => ({
  apiVersion: "openstack.causeway.dev/v1alpha1",
  kind: "OpenStackDeployment",
  metadata: { name: "cloud", namespace: "openstack", uid: "u" },
  spec: { ...spec, tls },
});
const { components } = resolveCatalogue(spec);

function observed(tls: Tls, objects: readonly KubeObject[] = [], served: readonly string[] = []): Observed {
  return {
    deployment: deployment(tls),
    objects: new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object])),
    pods: [],
    replicaSets: [],
    credentials: undefined,
    tokenKeys: undefined,
    credentialKeys: undefined,
    restoredKeys: undefined,
    nodes: [],
    claims: new Set(),
    served: new Set(served),
    isComplete: true,
  };
}

const secret = (name: string, values: Record<string, string>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: secretData(values),
});

describe("a certificate of the administrator", () => {
  let authority: KeyPair;
  let other: KeyPair;
  const every = [
    ...new Set(components.filter(tlsPortOf).flatMap((component) => hostsOf(deployment({ from: "Own" }), component))),
  ];
  const issued = (names: readonly string[] = every, lifetime = 90 * DAY) =>
    issueCertificate(authority, { commonName: "cloud", dnsNames: names, usages: ["server"], lifetime, now });
  const planned = (values: Record<string, string>, at = now) =>
    planTls(observed({ from: "Secret", name: "given" }, [secret("given", values)]), components, at);
  const files = (pair: KeyPair, ca = authority.certificate) => ({
    "tls.crt": pair.certificate,
    "tls.key": pair.key,
    "ca.crt": ca,
  });

  beforeAll(async () => {
    authority = await createAuthority({ commonName: "authority", lifetime: 3650 * DAY, now });
    other = await createAuthority({ commonName: "other", lifetime: 3650 * DAY, now });
  });

  test("is that of every API", async () => {
    const pair = await issued();
    const { material, refusal } = planned(files(pair));
    expect(refusal).toBeUndefined();
    expect(material?.pairs["glance-api"]).toEqual({ certificate: pair.certificate, key: pair.key });
    expect(material?.authorities).toContain("BEGIN CERTIFICATE");
  });

  test("may have wildcards, and a chain", async () => {
    const wild = await issued(["*.cloud.example.org", "*.openstack.svc", "*.openstack.svc.cluster.local"]);
    expect(planned(files(wild)).refusal).toBeUndefined();
    const chain = { ...wild, certificate: wild.certificate + authority.certificate };
    expect(planned(files(chain, other.certificate + authority.certificate)).refusal).toBeUndefined();
  });

  test.each<[string, RegExp, () => Promise<Record<string, string>>, number?]>([
    [
      "lacks a name",
      /lacks \d+ names, such as cloud-/,
      async () => files(await issued(["identity.cloud.example.org"])),
    ],
    ["has ended", /ended on 2026-04-01/, async () => files(await issued()), now + 91 * DAY],
    ["has another's key", /not the key of tls\.crt/, async () => files({ ...(await issued()), key: other.key })],
    ["is of another authority", /no authority of ca\.crt signed/, async () => files(await issued(), other.certificate)],
    ["has no authority", /no ca\.crt/, async () => files(await issued(), "")],
    ["has no key", /no tls\.crt, or no tls\.key/, async () => ({ "tls.crt": (await issued()).certificate })],
    ["is no PEM", /cannot be read/, async () => files({ certificate: "x", key: "y" })],
  ])("that %s is refused in words", async (_what, message, make, at) => {
    expect(planned(await make(), at).refusal).toMatch(message);
  });

  test("in no Secret that the operator may read is refused with what to do", () => {
    const { refusal } = planTls(observed({ from: "Secret", name: "given" }), components, now);
    expect(refusal).toContain("kubectl -n openstack label secret given openstack.causeway.dev/deployment=cloud");
  });
});

describe("certificates of cert-manager", () => {
  const tls = { from: "ClusterIssuer", name: "corporate" } as const;

  test("are refused in words where it is not installed", () => {
    expect(planTls(observed(tls), components, now).refusal).toMatch(/cert-manager is not installed.*from: Own/);
  });

  test("are requested by name of each API, and waited for with what cert-manager says", () => {
    const first = planTls(observed(tls, [], ["Certificate"]), components, now);
    const keystone = first.objects.find(({ metadata }) => metadata.name === "cloud-keystone-api-certificates");
    expect(keystone).toMatchObject({
      spec: {
        secretName: "cloud-keystone-api-certificates",
        secretTemplate: { labels: { "openstack.causeway.dev/deployment": "cloud" } },
        dnsNames: [
          "cloud-keystone-api.openstack.svc",
          "cloud-keystone-api.openstack.svc.cluster.local",
          "identity.cloud.example.org",
        ],
        issuerRef: { group: "cert-manager.io", kind: "ClusterIssuer", name: "corporate" },
      },
    });
    expect(first.steps).toHaveLength(first.objects.length);
    expect(first.material).toBeUndefined();
    const status = { conditions: [{ type: "Ready", status: "False", message: "the issuer is not ready" }] };
    const written = first.objects.map((object) => ({ ...object, status }));
    const later = planTls(observed(tls, written, ["Certificate"]), components, now);
    expect(later.steps).toEqual([]);
    expect(later.waitsFor).toMatch(/has not written .*the issuer is not ready/);
  });

  test("are used once all are there", () => {
    const { objects } = planTls(observed(tls, [], ["Certificate"]), components, now);
    const secrets = objects.map(({ metadata }) =>
      secret(metadata.name, { "tls.crt": metadata.name, "tls.key": "key", "ca.crt": "" }),
    );
    expect(planTls(observed(tls, [...objects, ...secrets], ["Certificate"]), components, now).waitsFor).toMatch(
      /ca\.crt/,
    );
  });
});

test.each([
  ["identity.example.org", "identity.example.org", true],
  ["*.example.org", "identity.example.org", true],
  ["*.example.org", "a.identity.example.org", false],
  ["*.example.org", "example.org", false],
  ["example.org", "identity.example.org", false],
])("a certificate for %s covers the host %s: %s", (name, host, expected) => {
  expect(covers(name, host)).toBe(expected);
});
