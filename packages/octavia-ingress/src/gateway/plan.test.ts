import { expect, test } from "vitest";
import { getCondition } from "@causeway/kubernetes";
import { classParameters } from "../ingress/parameters.ts";
import type { ReferenceGrant, RouteRule } from "../objects/gateway.ts";
import { gateway, HTTP, HTTPS, NOW, observed, OWNER, plain, route, settled, web } from "../testing/gateways.ts";
import { CONFIG, emptyBalancer } from "../testing/observed.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

const VERSION = "gateway.networking.k8s.io/v1";
const grant: ReferenceGrant = {
  apiVersion: VERSION,
  kind: "ReferenceGrant",
  metadata: { name: "grant", namespace: "n" },
  spec: {
    from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "other" }],
    to: [{ group: "", kind: "Service" }],
  },
};
const everywhere = gateway([{ ...HTTP, allowedRoutes: { namespaces: { from: "All" } } }]);

interface Row {
  readonly says: string;
  readonly of: Observed;
  readonly steps: readonly string[];
  readonly programmed?: string;
  readonly accepted?: string;
}

const rows: readonly Row[] = [
  {
    says: "without our finalizer gets it first",
    of: observed(gateway([HTTP], { held: false }), []),
    steps: ["add-finalizer"],
  },
  { says: "that is new gets one create of everything", of: observed(plain, [web]), steps: ["create-load-balancer"] },
  {
    says: "whose certificate is not stored has it stored first",
    of: observed(gateway([HTTPS]), []),
    steps: ["store-certificate"],
  },
  {
    says: "with a protocol that Octavia does not have creates nothing",
    of: observed(gateway([{ name: "udp", port: 53, protocol: "UDP" }]), []),
    steps: [],
    accepted: "False",
    programmed: "False Invalid",
  },
  {
    says: "with TLS in a cloud without a key manager creates nothing",
    of: observed(gateway([HTTPS]), [], { keyManager: false }),
    steps: [],
    accepted: "False",
    programmed: "False Invalid",
  },
  {
    says: "that is as it should be is programmed",
    of: observed(plain, [web], { balancer: settled(plain, [web]) }),
    steps: [],
    accepted: "True",
    programmed: "True Programmed",
  },
  {
    says: "without an address for clients gets one",
    of: observed(plain, [web], { balancer: { ...settled(plain, [web]), floatingIp: undefined } }),
    steps: ["create-floating-ip"],
    programmed: "False AddressNotAssigned",
  },
  {
    says: "with one route more gets one policy more",
    of: observed(plain, [web, route("shop", {})], { balancer: settled(plain, [web]) }),
    steps: ["create-policy"],
  },
  {
    says: "whose parameters cannot be read is not changed",
    of: observed(plain, [web], {
      class: { ...classParameters(CONFIG.balancer, undefined), problem: "unknown keys x" },
      balancer: settled(plain, [web]),
    }),
    steps: [],
    accepted: "False",
    programmed: "False Invalid",
  },
  {
    says: "that goes takes its address and load balancer with it",
    of: observed(gateway([HTTP], { going: true }), [], { balancer: settled(plain, [web]) }),
    steps: ["delete-floating-ip", "delete-load-balancer"],
  },
  {
    says: "that goes loses the finalizer when nothing is left",
    of: observed(gateway([HTTP], { going: true }), []),
    steps: ["remove-finalizer"],
  },
  {
    says: "of another controller that never was ours is left alone",
    of: observed(gateway([HTTP], { held: false }), [], { class: undefined }),
    steps: [],
  },
  {
    says: "of another controller that was ours is released",
    of: observed(plain, [], { class: undefined }),
    steps: ["remove-finalizer"],
  },
];

test.each(rows)("a Gateway $says", ({ of, steps, programmed, accepted }) => {
  const { steps: planned, status } = plan(of, NOW);
  expect(planned.map(({ type }) => type)).toEqual(steps);
  const conditions = status.gateway?.conditions;
  const is = getCondition(conditions, "Programmed");
  if (programmed !== undefined) expect(`${is?.status} ${is?.reason}`).toBe(programmed);
  if (accepted !== undefined) expect(getCondition(conditions, "Accepted")?.status).toBe(accepted);
});

const match = (value: object): RouteRule => ({ matches: [value] });

test.each([
  ["with a plain path", web, "Accepted True Accepted"],
  ["with a method", route("web", match({ method: "GET" })), "Accepted False UnsupportedValue"],
  [
    "with a path that is too long",
    route("web", match({ path: { type: "Exact", value: `/${"a".repeat(300)}` } })),
    "Accepted False UnsupportedValue matches[0]: path needs an L7 rule of 301 characters",
  ],
  [
    "with an expression that cannot be read",
    route("web", match({ path: { type: "RegularExpression", value: "/(" } })),
    'Accepted False UnsupportedValue matches[0]: path: the regular expression "/(" cannot be read',
  ],
  [
    "with a comma in a header",
    route("web", match({ headers: [{ name: "x-a", value: "a,b" }] })),
    'Accepted False UnsupportedValue matches[0]: header "x-a" "a,b"',
  ],
  [
    "with white space in a header",
    route("web", match({ headers: [{ name: "x-a", value: "a b" }] })),
    "Accepted True Accepted",
  ],
  ["of another namespace", route("web", {}, "other"), "Accepted False NotAllowedByListeners"],
])("a route %s is accepted or refused by its Gateway: %s", (_, of, says) => {
  const { status } = plan(observed(plain, [of, route("shop", {})]), NOW);
  const [mine, other] = status.routes.map(({ parents }) => getCondition(parents[0]?.conditions, "Accepted"));
  expect(`Accepted ${mine?.status} ${mine?.reason} ${mine?.message}`).toContain(says);
  // The others are served.
  expect(other?.status).toBe("True");
});

test.each([
  ["without a grant", [], "False RefNotPermitted"],
  ["with a grant", [grant], "True ResolvedRefs"],
])("a route to a Service of another namespace %s has ResolvedRefs %s", (_, grants, says) => {
  const { status } = plan(observed(everywhere, [route("web", {}, "other")], { grants }), NOW);
  const resolved = getCondition(status.routes[0]?.parents[0]?.conditions, "ResolvedRefs");
  expect(`${resolved?.status} ${resolved?.reason}`).toBe(says);
});

test("two reconciles of one state plan the same", () => {
  for (const { of } of rows) expect(plan(of, NOW)).toEqual(plan(of, NOW));
});

test("a Gateway that goes waits for the cloud, and remains until nothing is left", () => {
  const leaving = settled(plain, [web]).found;
  const going = observed(gateway([HTTP], { going: true }), [], { balancer: { ...emptyBalancer(OWNER), leaving } });
  const { steps, wait } = plan(going, NOW);
  expect(steps).toEqual([]);
  expect(wait?.until).toBe(NOW + 60_000);
  expect(plan(observed(gateway([HTTP], { going: true }), []), NOW)).not.toHaveProperty("wait");
});
