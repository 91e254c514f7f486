import { setImmediate } from "node:timers/promises";
import type { KubeObject } from "@causeway/kubernetes";
import { charged, type Call } from "../contract/call.ts";
import { apiError, notFound } from "../errors/status.ts";
import { at, text, timestamp, type Json } from "../json/json.ts";
import { apiVersionOf } from "../contract/resource.ts";
import { selectionOf } from "../registry/list.ts";
import { declaredSamples, declaredUse, runningContainers, CPU, MEMORY, SIMULATED } from "./declared.ts";
import { USAGE_GROUP, USAGE_VERSION } from "./kinds.ts";
import { scrape } from "./scrape.ts";
import type { Amount, Sample, Summary } from "./summary.ts";

const WINDOW = "15s";
const API_VERSION = `${USAGE_GROUP}/${USAGE_VERSION}`;

/** What was found. */
export interface Used {
  readonly items: readonly KubeObject[];
  /** Why something of what was requested is missing. */
  readonly why: string | undefined;
}

/**
 * What nodes or pods use, as metrics-server says it: real ones as their kubelets measured it in the last fifteen
 * seconds, simulated ones as annotations of pods declare it. Programs that list every kind must not fail, so a list
 * without anything is no error. Throws 404 for one that is not known, and 503 where it cannot be known.
 */
export async function usage(call: Call, query: URLSearchParams): Promise<Used> {
  const isPods = call.resource.plural === "pods";
  const used = isPods ? await podUsage(call, query) : await nodeUsage(call, query);
  const { items, why } = used;
  if (call.name === "" || items.length > 0) return used;
  if (why === undefined) throw notFound({ group: USAGE_GROUP, plural: call.resource.plural }, call.name);
  throw unknown(why);
}

/** Nothing is wrong with a server whose nodes are simulated. */
export function unknown(why: string): Error {
  return why === UNDECLARED ? apiError(404, "NotFound", why) : apiError(503, "ServiceUnavailable", why);
}

/** What was found, as a list of the called kind. */
export function usageList({ resource, version }: Call, items: readonly unknown[]): Json {
  const apiVersion = apiVersionOf(resource.group, version.name);
  return { kind: resource.listKind, apiVersion, metadata: {}, items };
}

const UNDECLARED = `the nodes are simulated, and their containers use nothing; declare what a pod is to use by its annotations ${CPU} and ${MEMORY}`;

async function podUsage(call: Call, query: URLSearchParams): Promise<Used> {
  const { cluster } = call;
  const selection = selectionOf(call, query);
  const pods = (await stored(call, "/pods", selection.namespace)).filter(
    (pod) => selection.matches(pod) && runningContainers(pod).length > 0,
  );
  const nodes = new Map((await stored(call, "/nodes")).map((node) => [node.metadata.name, node]));
  const real = [...new Set(pods.map(nodeOf))]
    .map((name) => nodes.get(name))
    .filter((node) => node !== undefined)
    .filter((node) => !isSimulated(node));
  const summaries = await scrape(cluster, real);
  let why: string | undefined;
  const found = pods.flatMap((pod) => {
    const node = nodes.get(nodeOf(pod));
    if (!node) return [];
    if (isSimulated(node)) {
      const samples = declaredSamples(pod, cluster.clock.now());
      if (samples.size === 0) why ??= UNDECLARED;
      return samples.size === 0 ? [] : [podMetrics(pod, samples)];
    }
    const summary = summaries.get(node.metadata.name) ?? "it was not queried";
    if (typeof summary === "string") {
      why ??= `what pods on node ${node.metadata.name} use is not known: ${summary}`;
      return [];
    }
    const samples = summary.pods.get(`${pod.metadata.namespace ?? ""}/${pod.metadata.name}`);
    return samples && samples.size > 0 ? [podMetrics(pod, samples)] : [];
  });
  return { items: found, why };
}

async function nodeUsage(call: Call, query: URLSearchParams): Promise<Used> {
  const { cluster } = call;
  const selection = selectionOf(call, query);
  const nodes = (await stored(call, "/nodes")).filter(selection.matches);
  const summaries = await scrape(
    cluster,
    nodes.filter((node) => !isSimulated(node)),
  );
  const declared = nodes.some(isSimulated) ? await declaredByNode(call) : new Map<string, Amount>();
  let why: string | undefined;
  const found = nodes.flatMap((node) => {
    const { name } = node.metadata;
    if (isSimulated(node)) {
      if (declared.size === 0) {
        why ??= UNDECLARED;
        return [];
      }
      const amount = declared.get(name) ?? { cpu: 0, memory: 0 };
      return [nodeMetrics(node, { time: cluster.clock.now(), amount })];
    }
    const summary: Summary | string = summaries.get(name) ?? "it was not queried";
    if (typeof summary === "string") why ??= `what node ${name} uses is not known: ${summary}`;
    else if (summary.node) return [nodeMetrics(node, summary.node)];
    return [];
  });
  return { items: found, why };
}

/** What all pods of a simulated node are declared to use, by name of the node. Empty: no pod declares anything. */
async function declaredByNode(call: Call): Promise<ReadonlyMap<string, Amount>> {
  const sums = new Map<string, Amount>();
  for (const pod of await stored(call, "/pods")) {
    const use = runningContainers(pod).length > 0 ? declaredUse(pod) : undefined;
    if (!use) continue;
    const before = sums.get(nodeOf(pod)) ?? { cpu: 0, memory: 0 };
    sums.set(nodeOf(pod), { cpu: before.cpu + use.cpu, memory: before.memory + use.memory });
  }
  return sums;
}

const PAGE = 500;

/** Everything of a resource, a page at a time, so that others have their turn between pages. */
async function stored(call: Call, resource: string, namespace?: string): Promise<readonly KubeObject[]> {
  const { cluster } = call;
  const found: KubeObject[] = [];
  const query = { cluster: cluster.name, resource, limit: PAGE, ...(namespace ? { namespace } : {}) };
  for (let after: string | undefined; ; await setImmediate()) {
    const page = charged(call, () => cluster.store.list({ ...query, ...(after === undefined ? {} : { after }) }));
    for (const { object } of page.items) found.push(object);
    if (page.next === undefined) return found;
    after = page.next;
  }
}

function isSimulated({ metadata }: KubeObject): boolean {
  return metadata.labels?.[SIMULATED] === "true";
}

function nodeOf(pod: KubeObject): string {
  return text(at(pod, "spec", "nodeName"));
}

function podMetrics(pod: KubeObject, samples: ReadonlyMap<string, Sample>): KubeObject {
  const containers = [...samples].map(([name, { amount }]) => ({ name, usage: shown(amount) }));
  const time = Math.min(...[...samples.values()].map((sample) => sample.time));
  return metrics("PodMetrics", pod, { timestamp: timestamp(time), window: WINDOW, containers });
}

function nodeMetrics(node: KubeObject, { time, amount }: Sample): KubeObject {
  return metrics("NodeMetrics", node, { timestamp: timestamp(time), window: WINDOW, usage: shown(amount) });
}

function metrics(kind: string, { metadata }: KubeObject, fields: Json & { timestamp: string }): KubeObject {
  const { name, namespace, labels } = metadata;
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels ? { labels } : {}),
      creationTimestamp: fields.timestamp,
    },
    ...fields,
  } as unknown as KubeObject;
}

/** As metrics-server writes quantities: billionths of a processor, and KiB. */
function shown({ cpu, memory }: Amount): Json {
  return {
    cpu: cpu === 0 ? "0" : `${Math.ceil(cpu)}n`,
    memory: memory === 0 ? "0" : `${Math.ceil(memory / 1024)}Ki`,
  };
}
