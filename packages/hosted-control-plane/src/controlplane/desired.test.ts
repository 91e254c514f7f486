import type { HostedControlPlane } from "@causeway/api";
import { expect, test } from "vitest";
import { desired } from "./desired.ts";
import { gather, type GatherFrom, type Observed } from "./gather.ts";

type Authentication = HostedControlPlane["spec"]["authentication"];

const pair = { certificate: "certificate", key: "key" };
const keystone = { authURL: "https://identity.example.org/v3", projects: ["p1"] };
const jwt = [
  {
    issuer: { url: "https://login.example.org", audiences: ["web"] },
    claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
  },
];

const observed = (authentication: Authentication): Observed =>
  ({
    object: {
      metadata: { namespace: "default", name: "web" },
      spec: { version: "v1.34.0", ...(authentication === undefined ? {} : { authentication }) },
    },
    cluster: { spec: {} },
    roots: { ca: pair, sa: pair },
    defaults: { host: "10.0.0.1" },
  }) as unknown as Observed;

const external = { type: "keystone", settings: keystone };
test.for<[string, Authentication, object]>([
  ["nothing", undefined, {}],
  ["a Keystone", { keystone }, { external }],
  ["issuers", { jwt }, { jwt }],
  ["both", { keystone, jwt }, { external, jwt }],
  ["a list without issuers, which is not the same as none", { jwt: [] }, { jwt: [] }],
])("a runtime gets who is believed as the object has it: %s", ([, authentication, expected]) => {
  expect(desired(observed(authentication))?.authentication).toEqual(expected);
});

const sink = { url: "https://sink.test", tokenSecret: "sink" };
test.for<[string, string | undefined, object | undefined, object | undefined]>([
  ["without a sink", "web", undefined, undefined],
  ["with the token, without the line's end", "web", { webhook: sink }, { ...sink, token: "t" }],
  ["without the token of a Secret of another cluster", "other", { webhook: sink }, sink],
  ["without the token of a Secret that is not there", undefined, { webhook: sink }, sink],
  ["without a token that is not requested", "web", { webhook: { url: sink.url } }, { url: sink.url }],
])("a runtime gets where audit events go %s", async ([, owner, audit, expected]) => {
  const object = {
    metadata: { namespace: "default", name: "web" },
    spec: { version: "v1.34.0", ...(audit && { audit }) },
  };
  const secret = {
    metadata: { labels: { "cluster.x-k8s.io/cluster-name": owner } },
    data: { token: Buffer.from("t\n").toString("base64") },
  };
  const none = () => undefined;
  const from = {
    controlPlanes: { get: () => object },
    clusters: { get: none },
    namespaces: { get: none },
    secrets: { get: ({ name }: { name: string }) => (name === "sink" && owner !== undefined ? secret : undefined) },
    runtime: { observe: async () => undefined },
    webhooks: none,
    tunnel: none,
    issuers: none,
    auditDelivery: none,
    advertise: async () => "10.0.0.1",
  } as unknown as GatherFrom;
  const found = await gather(from, { namespace: "default", name: "web" }, new AbortController().signal);
  expect(found?.auditSink).toEqual(expected);
  const complete = { ...found, cluster: { spec: {} }, roots: { ca: pair, sa: pair } } as unknown as Observed;
  expect(desired(complete)?.audit).toEqual(expected);
});
