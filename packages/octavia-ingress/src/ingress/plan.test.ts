import { expect, test } from "vitest";
import type { ObservedBalancer } from "../balancer/balancer.ts";
import { annotation, classOwner, FINALIZER, ingressOwner, type Owner } from "../names.ts";
import type { Ingress, IngressSpec } from "../objects/ingress.ts";
import { balancerOf, CONFIG, emptyBalancer, floatingIp, node, service } from "../testing/observed.ts";
import type { Observed } from "./observed.ts";
import { classParameters } from "./parameters.ts";
import { plan } from "./plan.ts";

const NOW = 1_000_000;
const OWN = ingressOwner("c", { namespace: "n", name: "web", uid: "web" });
const SHARED = classOwner("c", { name: "shared" });

interface Given {
  readonly paths?: readonly string[];
  readonly tls?: string;
  readonly annotations?: Record<string, string>;
  readonly held?: boolean;
  readonly going?: boolean;
  readonly served?: boolean;
}

function ingress(name: string, { paths = ["/"], tls, annotations, held = true, going, served }: Given = {}): Ingress {
  const backend = { service: { name: "one", port: { number: 80 } } };
  const http = { paths: paths.map((path) => ({ path, pathType: "Prefix" as const, backend })) };
  const spec: IngressSpec = {
    rules: [{ host: `${name}.example`, http }],
    ...(tls === undefined ? {} : { tls: [{ secretName: tls }] }),
  };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name,
      namespace: "n",
      uid: name,
      annotations: annotations ?? {},
      finalizers: held ? [FINALIZER] : [],
      ...(going ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec,
    ...(served ? { status: { loadBalancer: { ingress: [{ ip: "203.0.113.5" }] } } } : {}),
  };
}

function observed(served: readonly Ingress[], more: Partial<Observed> = {}): Observed {
  const owner = more.owner ?? OWN;
  return {
    owner,
    subject: served[0] ?? ingress("web"),
    config: CONFIG,
    class: classParameters(CONFIG.balancer, undefined),
    served,
    released: [],
    keepFloatingIp: false,
    blocked: undefined,
    services: new Map([["n/one", service("one", 30_001)]]),
    slices: new Map(),
    secrets: new Map([["n/good", { digest: "d".repeat(64), pkcs12: () => Buffer.alloc(0) }]]),
    keyManager: true,
    nodes: [node("a", "10.0.0.9")],
    balancer: emptyBalancer(owner),
    ...more,
  };
}

/** What the cloud has once the create that is planned for these Ingresses is done, with an address for clients. */
function settled(owner: Owner, served: readonly Ingress[], more: Partial<ObservedBalancer> = {}): ObservedBalancer {
  const [step] = plan(observed(served, { owner, balancer: { ...emptyBalancer(owner), ...more } }), NOW).steps;
  if (step?.type !== "create-load-balancer") throw new Error(`no create but ${step?.type}`);
  return { ...balancerOf(owner, step.body), floatingIp: floatingIp(owner), ...more };
}

const internal = { annotations: { [annotation.internal]: "false" } };
const web = ingress("web", internal);
const shop = ingress("shop", internal);
const lb = (more: object) => {
  const made = settled(OWN, [web]);
  return { ...made, found: made.found.map((each) => ({ ...each, ...more })), tree: undefined };
};
const held = emptyBalancer(OWN).held;

interface Row {
  readonly says: string;
  readonly of: Observed;
  readonly steps: readonly string[];
  readonly wait?: string;
  readonly warns?: string;
}

const rows: readonly Row[] = [
  {
    says: "without our finalizer gets it first",
    of: observed([ingress("web", { held: false })]),
    steps: ["add-finalizer"],
  },
  { says: "that is new gets one create of everything", of: observed([web]), steps: ["create-load-balancer"] },
  {
    says: "with TLS has its certificate stored before the create",
    of: observed([ingress("web", { tls: "good" })]),
    steps: ["store-certificate"],
  },
  {
    says: "with a Secret that is missing is not created",
    of: observed([ingress("web", { tls: "missing" })]),
    steps: [],
    wait: "the blocking condition",
    warns: "Secret missing does not exist",
  },
  {
    says: "with TLS in a cloud without a key manager is not created",
    of: observed([ingress("web", { tls: "good" })], { keyManager: false }),
    steps: [],
    wait: "the blocking condition",
    warns: "Key Manager",
  },
  {
    says: "waits for a create whose answer was lost",
    of: observed([web], { balancer: { ...emptyBalancer(OWN), held: { ...held, uncertain: NOW + 1 } } }),
    steps: [],
    wait: "to be created again",
  },
  {
    says: "that is as it should be makes no change",
    of: observed([web], { balancer: settled(OWN, [web]) }),
    steps: [],
  },
  {
    says: "gets a floating IP once it is there",
    of: observed([web], { balancer: settled(OWN, [web], { floatingIp: undefined }) }),
    steps: ["create-floating-ip"],
  },
  {
    says: "with one more path gets one more policy",
    of: observed([ingress("web", { ...internal, paths: ["/", "/a"] })], { balancer: settled(OWN, [web]) }),
    steps: ["create-policy"],
  },
  {
    says: "with a path that cannot be written serves the others",
    of: observed([ingress("web", { ...internal, paths: ["/", "/caf\u00e9"] })], { balancer: settled(OWN, [web]) }),
    steps: [],
    warns: 'path "/caf\u00e9" contains white space or characters beyond ASCII',
  },
  {
    says: "waits for a load balancer that is being changed",
    of: observed([web], { balancer: lb({ provisioning_status: "PENDING_UPDATE" }) }),
    steps: [],
    wait: "to be ACTIVE",
  },
  {
    says: "in ERROR that never served is recreated with its address",
    of: observed([web], { balancer: lb({ provisioning_status: "ERROR" }) }),
    steps: ["detach-floating-ip", "delete-load-balancer"],
  },
  {
    says: "in ERROR that serves is left to a person",
    of: observed([ingress("web", { ...internal, served: true })], { balancer: lb({ provisioning_status: "ERROR" }) }),
    steps: [],
    wait: "the blocking condition",
    warns: "fail it over",
  },
  {
    says: "does not touch a load balancer that another owner's tag claims",
    of: observed([web], { balancer: lb({ tags: ["k8s-ingress-owner=c/other"] }) }),
    steps: [],
    wait: "the blocking condition",
    warns: "its tags name another owner",
  },
  {
    says: "of upstream is marked as ours before anything else",
    of: observed([web], {
      balancer: { ...settled(OWN, [web]), found: settled(OWN, [web]).found.map((each) => ({ ...each, tags: [] })) },
    }),
    steps: ["update-load-balancer"],
  },
  {
    says: "that goes takes its address and load balancer with it",
    of: observed([], { released: [ingress("web", { going: true })], balancer: settled(OWN, [web]) }),
    steps: ["delete-floating-ip", "delete-load-balancer"],
  },
  {
    says: "that goes keeps its address where it says so",
    of: observed([], {
      released: [ingress("web", { going: true })],
      balancer: settled(OWN, [web]),
      keepFloatingIp: true,
    }),
    steps: ["detach-floating-ip", "delete-load-balancer"],
  },
  {
    says: "that goes waits until its load balancer is gone",
    of: observed([], {
      released: [ingress("web", { going: true })],
      balancer: { ...emptyBalancer(OWN), leaving: settled(OWN, [web]).found },
    }),
    steps: [],
    wait: "to be deleted",
  },
  {
    says: "that goes loses the finalizer when nothing is left",
    of: observed([], { released: [ingress("web", { going: true })] }),
    steps: ["remove-finalizer"],
  },
  {
    says: "that is another controller's now loses our address, too",
    of: observed([], { released: [ingress("web")] }),
    steps: ["clear-status", "remove-finalizer"],
  },
  {
    says: "of a shared load balancer whose class is gone goes without it while another needs it",
    of: observed([], {
      owner: SHARED,
      kept: true,
      released: [ingress("web", { going: true })],
      balancer: settled(SHARED, [web]),
    }),
    steps: ["remove-finalizer"],
  },
  {
    says: "waits where it may still have a load balancer of its own",
    of: observed([web], { owner: SHARED, blocked: NOW + 5, balancer: settled(SHARED, [web]) }),
    steps: [],
    wait: "load balancers of released Ingresses",
  },
  {
    says: "of a class whose parameters cannot be read is neither changed nor released",
    of: observed([], { class: { ...classParameters(CONFIG.balancer, undefined), problem: "unknown keys x" } }),
    steps: [],
    wait: "parameters of the class",
    warns: "unknown keys x",
  },
  {
    says: "with a faulty annotation keeps no other from being served, though it is the oldest",
    of: observed([ingress("web", { annotations: { [annotation.internal]: "maybe" } }), shop], {
      owner: SHARED,
      balancer: settled(SHARED, [shop]),
    }),
    steps: ["create-policy"],
    warns: "n/web: annotation octavia.ingress.kubernetes.io/internal is not true or false: maybe; it is not used",
  },
  {
    says: "with a Secret that is missing keeps no other from being served",
    of: observed([ingress("web", { ...internal, tls: "missing" }), shop], { owner: SHARED }),
    steps: ["create-load-balancer"],
    warns: "n/web: no certificate for the listener of HTTPS: Secret missing does not exist",
  },
  {
    says: "with TLS in a cloud without a key manager keeps no other from being served",
    of: observed([ingress("web", { ...internal, tls: "good" }), shop], { owner: SHARED, keyManager: false }),
    steps: ["create-load-balancer"],
    warns: "n/web: TLS Ingress not supported",
  },
];

test.each(rows)("an Ingress $says", ({ of, steps, wait, warns }) => {
  const planned = plan(of, NOW);
  expect(planned.steps.map(({ type }) => type)).toEqual(steps);
  if (wait === undefined) expect(planned.wait).toBeUndefined();
  else expect(planned.wait?.for).toContain(wait);
  const warnings = (planned.events ?? []).filter(({ type }) => type === "Warning").map(({ message }) => message);
  if (warns === undefined) expect(warnings).toEqual([]);
  else expect(warnings.join("\n")).toContain(warns);
});

test("a shared load balancer keeps the certificate that its listener has while the Secret is missing", () => {
  const tls = ingress("web", { ...internal, tls: "good" });
  const name = plan(observed([tls], { owner: SHARED }), NOW).steps.map((s) =>
    s.type === "store-certificate" ? s.name : "",
  )[0];
  const stored = [{ name: name ?? "", ref: "https://barbican/1" }];
  const balancer = settled(SHARED, [tls], { stored });
  const planned = plan(observed([tls], { owner: SHARED, balancer, secrets: new Map() }), NOW);
  expect(planned.steps).toEqual([]);
});

test("the warning of a faulty Ingress of a shared load balancer is about that Ingress", () => {
  const faulty = ingress("web", { ...internal, tls: "missing" });
  const { status } = plan(observed([faulty, shop], { owner: SHARED }), NOW);
  expect([...(status.about?.values() ?? [])].map(({ metadata }) => metadata.name)).toEqual(["web", "web"]);
});

test("a plan never mixes a deletion of the load balancer with changes of it", () => {
  for (const { of } of rows) {
    const types = plan(of, NOW).steps.map(({ type }) => type);
    if (types.includes("delete-load-balancer")) expect(types.filter((t) => /policy|listener|pool/.test(t))).toEqual([]);
  }
});

test("an Ingress that is no longer served is released only when the load balancer is as the others want it", () => {
  const going = ingress("old", { ...internal, going: true });
  const balancer = settled(SHARED, [web]);
  const done = plan(observed([web], { owner: SHARED, released: [going], balancer }), NOW);
  expect(done.steps.map(({ type }) => type)).toEqual(["remove-finalizer"]);
  const more = plan(observed([web, shop], { owner: SHARED, released: [going], balancer }), NOW);
  expect(more.steps.map(({ type }) => type)).toEqual(["create-policy"]);
});

test("an Ingress is checked again after a minute where something keeps it from being served", () => {
  const missing = plan(observed([ingress("web", { tls: "missing" })]), NOW);
  expect(missing.wait?.until).toBe(NOW + 60_000);
  expect(new Set(missing.events?.map(({ type, reason }) => `${type} ${reason}`))).toEqual(new Set(["Warning Failed"]));
  const bad = { ...classParameters(CONFIG.balancer, undefined), problem: "unknown keys x" };
  const unreadable = plan(observed([], { class: bad }), NOW);
  expect(unreadable.wait?.until).toBe(NOW + 60_000);
});

test("an Ingress that was deleted is released though the parameters of its class cannot be read", () => {
  const bad = { ...classParameters(CONFIG.balancer, undefined), problem: "unknown keys x" };
  const { steps } = plan(observed([], { class: bad, released: [ingress("old", { going: true })] }), NOW);
  expect(steps.map(({ type }) => type)).toEqual(["remove-finalizer"]);
});
