import { hasCode, messageOf, refuseOddResponses } from "@causeway/foundation";
import type { Aggregation, Extension } from "../contract/aggregation.ts";
import { internalCall } from "../contract/call.ts";
import type { Cluster } from "../contract/cluster.ts";
import { builtIn } from "../contract/controller.ts";
import type { Draft } from "../contract/resource.ts";
import { SYSTEM } from "../contract/user.ts";
import { startLoop } from "../controllers/loop.ts";
import { tooManyRequests } from "../errors/status.ts";
import { at, fields, isRecord, record, records, same, timestamp, type Json } from "../json/json.ts";
import { API_SERVICES } from "../kinds/apiregistration/kinds.ts";
import { create } from "../registry/create.ts";
import { change } from "../registry/update.ts";
import type { Dial } from "../webhooks/connections.ts";
import { LOCAL, PASSED, probe, servedHere, serviceProblem, type Condition } from "./availability.ts";
import { Documents } from "./documents.ts";
import { byPriority, extensionOf } from "./extensions.ts";
import { forward, unavailable } from "./forward.ts";
import { authenticationData, type FrontProxy } from "./front-proxy.ts";
import { bodyOf, Transport } from "./transport.ts";

/** Bytes of a document of an extension server. */
const LARGEST = 16 * 1024 * 1024;
const CHECKED_WITHIN = 5_000;
/** Ms after which an available extension is checked again. */
const RECHECK = 30_000;
/** Of discovery and OpenAPI documents that are kept, by cluster. */
const DOCUMENTS = { age: 60_000, count: 500, size: 64 * 1024 * 1024 };
/** Requests to extension servers at a time, watches among them. */
const IN_FLIGHT = 400;
const CONFIG = { namespace: "kube-system", name: "extension-apiserver-authentication" };
/** As kube-apiserver's aggregator asks. */
const AGGREGATOR = { name: "system:kube-aggregator", groups: ["system:masters"] };

interface AggregationFrom {
  /** False: this cluster may connect to no extension server. */
  readonly reach: boolean | Dial;
  readonly frontProxy: FrontProxy;
}

/** The aggregation layer of a cluster. It costs nothing while there is no APIService. */
export function openAggregation(cluster: Cluster, { reach, frontProxy }: AggregationFrom): Aggregation {
  const transport = new Transport(cluster, typeof reach === "function" ? reach : undefined);
  const resource = builtIn(cluster, "apiregistration.k8s.io", "apiservices");
  const extensions = new Map<string, Extension>();
  const resources = new Map<string, readonly Json[]>();
  const documents = new Documents(DOCUMENTS, cluster.clock);
  const stopping = new AbortController();
  let inFlight = 0;

  const note = (name: string): void => {
    const stored = cluster.store.get({ cluster: cluster.name, resource: API_SERVICES, namespace: "", name });
    const extension = stored && extensionOf(stored.object);
    if (extension) return void extensions.set(name, extension);
    extensions.delete(name);
    resources.delete(name);
  };
  for (const { object } of cluster.store.list({ cluster: cluster.name, resource: API_SERVICES }).items)
    note(object.metadata.name);

  const isLocal = ({ group, version }: Extension): boolean =>
    cluster.catalog.all().some((each) => each.group === group && each.versions.some((one) => one.name === version));

  const get = async (extension: Extension, path: string): Promise<{ code: number; text: string }> => {
    const client = await frontProxy.client();
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(CHECKED_WITHIN)]);
    const headers = { accept: "application/json" };
    const sent = transport.begin(extension, client, { method: "GET", url: path, headers, user: AGGREGATOR, signal });
    const answer = await new Promise<Parameters<typeof bodyOf>[0]>((resolve, reject) => {
      sent.once("response", resolve).once("error", reject);
      refuseOddResponses(sent, reject);
      sent.end();
    });
    return { code: answer.statusCode ?? 0, text: await bodyOf(answer, LARGEST) };
  };

  const judge = async (extension: Extension | undefined): Promise<Condition> => {
    if (extension === undefined) return LOCAL;
    if (isLocal(extension)) return servedHere(extension);
    const found = serviceProblem(cluster, extension);
    if (found) return found;
    if (reach === false)
      return {
        type: "Available",
        status: "False",
        reason: "FailedDiscoveryCheck",
        message: "this cluster may not connect to extension servers: no networks of nodes were given to its API server",
      };
    const checked = await probe(extension, (path) => get(extension, path));
    if ("problem" in checked) return checked.problem;
    resources.set(extension.name, checked.resources);
    return PASSED;
  };

  const loop = startLoop({
    name: "api-services",
    cluster,
    async reconcile(name) {
      if (name === CONFIG.name) return reach === false ? undefined : publishAuthorities(cluster, frontProxy);
      const stored = cluster.store.get({ cluster: cluster.name, resource: API_SERVICES, namespace: "", name });
      if (!stored) return;
      const wanted = await judge(extensionOf(stored.object));
      await publish(cluster, name, wanted);
      if (wanted.status === "False") throw new Error(wanted.message);
      if (wanted === LOCAL) return;
      void cluster.clock.sleep(RECHECK, stopping.signal).then(
        () => loop.add(name),
        () => {},
      );
    },
  });

  const concerns = (namespace: string, service: string): void => {
    for (const { name, service: of } of extensions.values())
      if (of.namespace === namespace && of.name === service) loop.add(name);
  };
  const stopListening = cluster.changes.listen(({ resource: changed, object, previous }) => {
    const { name, namespace = "", labels } = object.metadata;
    if (changed === resource) {
      note(name);
      documents.clear();
      if (!same(at(object, "spec"), at(previous, "spec"))) loop.add(name);
      return;
    }
    if (extensions.size === 0 && name !== CONFIG.name) return;
    if (changed.storage === "/services" || changed.storage === "/endpoints") concerns(namespace, name);
    if (changed.storage === "discovery.k8s.io/endpointslices")
      concerns(namespace, labels?.["kubernetes.io/service-name"] ?? "");
    if (changed.storage === "/configmaps" && name === CONFIG.name && namespace === CONFIG.namespace) loop.add(name);
  });

  return {
    find(group, version) {
      const found = extensions.get(`${version}.${group}`);
      return found && !isLocal(found) ? found : undefined;
    },
    discovered() {
      if (extensions.size === 0) return [];
      return [...extensions.values()]
        .filter((extension) => !isLocal(extension))
        .toSorted(byPriority)
        .map((extension) => ({ extension, resources: resources.get(extension.name) ?? [] }));
    },
    async forward(extension, forwarded, response) {
      if (!extension.available || reach === false) throw unavailable();
      if (inFlight >= IN_FLIGHT) throw tooManyRequests();
      inFlight += 1;
      try {
        await forward(transport, await frontProxy.client(), { extension, forwarded, response });
      } finally {
        inFlight -= 1;
      }
    },
    document(extension, path) {
      if (!extension.available || reach === false) return Promise.resolve(undefined);
      return documents.get(`${extension.name} ${path}`, async () => {
        try {
          const { code, text } = await get(extension, path);
          return { content: code === 200 ? jsonOf(text) : undefined, size: text.length };
        } catch (error) {
          const reason = messageOf(error);
          cluster.log.warn("an extension server cannot be read", { extension: extension.name, path, reason });
          return { content: undefined, size: 0 };
        }
      });
    },
    resume() {
      if (reach !== false) loop.add(CONFIG.name);
      for (const name of extensions.keys()) loop.add(name);
    },
    async stop() {
      stopListening();
      stopping.abort();
      transport.close();
      await loop.stop();
    },
  };
}

function jsonOf(text: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the condition where it differs. */
async function publish(cluster: Cluster, name: string, wanted: Condition): Promise<void> {
  const resource = builtIn(cluster, "apiregistration.k8s.io", "apiservices");
  const stored = cluster.store.get({ cluster: cluster.name, resource: API_SERVICES, namespace: "", name });
  const before = records(at(stored?.object, "status", "conditions")).find((each) => each["type"] === wanted.type);
  if (!stored || (before && Object.entries(wanted).every(([field, value]) => before[field] === value))) return;
  const since = before?.["status"] === wanted.status ? before["lastTransitionTime"] : undefined;
  const condition = { ...wanted, lastTransitionTime: since ?? timestamp(cluster.clock.now()) };
  await change(internalCall(cluster, resource, { name, subresource: "status" }), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft["status"] = { ...record(draft["status"]), conditions: [condition] };
    return { draft, tracked: false };
  }).catch((error: unknown) => {
    if (!hasCode(error, "KUBERNETES_NOT_FOUND")) throw error;
  });
}

/** ConfigMap extension-apiserver-authentication. What others added to it remains. */
async function publishAuthorities(cluster: Cluster, frontProxy: FrontProxy): Promise<void> {
  const resource = builtIn(cluster, "", "configmaps");
  const data = authenticationData(cluster.trustedRoots, (await frontProxy.authority()).certificate);
  const stored = cluster.store.get({ cluster: cluster.name, resource: resource.storage, ...CONFIG });
  if (!stored) {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...CONFIG }, data };
    await create({ ...internalCall(cluster, resource, { namespace: CONFIG.namespace }), user: SYSTEM }, object).catch(
      (error: unknown) => {
        if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
      },
    );
    return;
  }
  const now = record(fields(stored.object)["data"]);
  if (Object.entries(data).every(([name, value]) => now[name] === value)) return;
  await change(internalCall(cluster, resource, CONFIG), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft["data"] = { ...record(draft["data"]), ...data };
    return { draft, tracked: false };
  });
}
