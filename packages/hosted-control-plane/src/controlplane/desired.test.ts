import type { HostedControlPlane } from "@causeway/api";
import { expect, test } from "vitest";
import { desired } from "./desired.ts";
import type { Observed } from "./gather.ts";

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
