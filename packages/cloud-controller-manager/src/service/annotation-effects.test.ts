import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { annotations, type ServiceAnnotation } from "../config/annotations.ts";
import { defaultCloudConfig } from "../config/config.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { plan } from "./plan.ts";

/** A value that is not the default, where the form alone does not give one. */
const VALUES: Readonly<Record<string, string>> = {
  sourceRanges: "192.0.2.0/24",
  class: "gold",
  nodeSelector: "role=edge",
  xForwardedFor: "true",
};
/** Annotations that act with another one, which is given as well. */
const MONITOR = { [annotations.enableHealthMonitor.key]: "true" };
const TOGETHER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  healthMonitorDelay: MONITOR,
  healthMonitorTimeout: MONITOR,
  healthMonitorMaxRetries: MONITOR,
  healthMonitorMaxRetriesDown: MONITOR,
};
/** Annotations whose effect is tested elsewhere, each with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  loadBalancerId: "it needs a load balancer that is there before: scenarios/sharing.test.ts",
  floatingNetworkId: "gather reads the network that it names: plan.test.ts, parameters/parameters.test.ts",
};

function valueOf(name: string, { form, choices, default: known }: ServiceAnnotation): string {
  const own = VALUES[name];
  if (own !== undefined) return own;
  if (form === "flag") return String(known !== true);
  if (form === "number") return String(Number(known ?? 0) + 7);
  return choices?.[1] ?? `a-${name}`;
}

/** What is planned for a Service from its creation to its deletion, as text. */
function planned(given: Readonly<Record<string, string>>): string {
  const classes = new Map([["gold", { subnetId: "gold-subnet" }]]);
  const nodes = [aNode("n1", { address: "10.0.0.1" }), aNode("n2", { address: "10.0.0.2" })];
  const finalizers = ["service.kubernetes.io/load-balancer-cleanup"];
  const world = new ModelWorld(aService({}, given, { finalizers }), nodes, {
    ...defaultCloudConfig().loadBalancer,
    provider: "amphora",
    classes,
  });
  const first = plan(world.observe(), 0);
  if (first.steps.length === 0) return JSON.stringify(first);
  world.converge();
  const { balancers, floatingIps } = world;
  world.delete();
  return JSON.stringify([first, balancers, floatingIps, plan(world.observe(), 0)]);
}

describe("an annotation of a Service changes what is planned", () => {
  const all = Object.entries(annotations) as [string, ServiceAnnotation][];
  test.each(all.filter(([name, { written }]) => !written && ELSEWHERE[name] === undefined))("%s", (name, row) => {
    const without = TOGETHER[name] ?? {};
    expect(planned({ ...without, [row.key]: valueOf(name, row) })).not.toBe(planned(without));
  });
});

/** The last part of a key, as scenarios and pages write it. */
const nameIn = (key: string): string => key.slice(key.lastIndexOf("/") + 1);

describe("an annotation of a Service is tried and described", () => {
  const scenarios = join(import.meta.dirname, "../scenarios");
  const texts = globSync("*.test.ts", { cwd: scenarios }).map((file) => readFileSync(join(scenarios, file), "utf8"));
  const pages = readFileSync(join(import.meta.dirname, "../../../../docs/reference/services.md"), "utf8");
  const given = (Object.entries(annotations) as [string, ServiceAnnotation][]).filter(([, { written }]) => !written);

  test.each(given)("%s is given to a Service in a scenario", (_, { key }) => {
    const uses = [`os("${nameIn(key)}")`, `"${key}"`];
    expect(texts.some((text) => uses.some((use) => text.includes(use)))).toBe(true);
  });

  test.each(Object.keys(TOGETHER))("%s, which acts with another one, is in docs/reference/services.md", (name) => {
    const row = given.find(([known]) => known === name)?.[1];
    expect(pages).toContain(`\`${nameIn(row?.key ?? name)}\``);
  });
});
