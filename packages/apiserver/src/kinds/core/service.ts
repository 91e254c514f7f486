import type { KubeObject } from "@causeway/kubernetes";
import { fields, record } from "../../json/json.ts";
import { invalid } from "../../errors/status.ts";
import { serviceNetworks, type Allocations } from "./addresses.ts";
import { allocate, claims, ownerOf, rangesOf, repaired } from "./service-allocation.ts";
import { dropOutgrown, keepAllocated, settleAddresses } from "./service-changes.ts";
import { familyProblems, settleFamilies } from "./service-families.ts";
import { ingressProblems, serviceProblems, serviceWarnings } from "./service-rules.ts";
import type { ClusterView, Draft, Strategy, WriteContext } from "../../contract/resource.ts";

/** Services: rules, and the cluster addresses and node ports they hold. */
export function serviceStrategy(): Strategy {
  const held = new WeakMap<ClusterView, Allocations>();
  const allocations = (cluster: ClusterView): Allocations => {
    const known = held.get(cluster);
    if (known) return known;
    const made = repaired(cluster);
    held.set(cluster, made);
    return made;
  };
  return {
    prepareCreate(draft, context) {
      draft["status"] = { loadBalancer: {} };
      // One that a write to "status" makes gets no addresses: so kube-apiserver has it.
      if (!context.subresource) settle(draft, undefined, context);
    },
    prepareUpdate(draft, old, context) {
      const was = record(fields(old)["spec"]);
      if (context.subresource === "status") draft["spec"] = structuredClone(was);
      if (context.subresource) return;
      keepAllocated(record(draft["spec"]), was);
      settle(draft, old, context);
      dropOutgrown(record(draft["spec"]), was);
      if (record(draft["spec"])["type"] !== "LoadBalancer") draft["status"] = { loadBalancer: {} };
    },
    validate(object, old, context) {
      const { subresource, cluster } = context;
      if (subresource && old) return ingressProblems(fields(object), fields(old));
      // The port that a second one of the same number and protocol would get too.
      const shared = subresource || old ? undefined : allocations(cluster).freePort();
      return serviceProblems(fields(object), { was: old && fields(old), shared });
    },
    admit(object, old, context) {
      if (context.subresource && old) return;
      serviceWarnings(record(fields(object)["spec"])).forEach((warning) => context.warn(warning));
    },
    allocate(draft, old, { cluster, subresource }) {
      if (subresource) return () => {};
      return allocate(rangesOf(cluster, allocations(cluster)), draft, old);
    },
    shown: withoutInternal,
    written(object, cluster) {
      // What an update gave up is free only now that the write is done.
      held.get(cluster)?.release(ownerOf(object), claims(fields(object)));
    },
    released(object, cluster) {
      held.get(cluster)?.release(ownerOf(object), { addresses: new Set(), ports: new Set() });
    },
  };
}

/** Settles addresses and families. Their faults are reported before any other field is checked. */
function settle(draft: Draft, old: KubeObject | undefined, { cluster }: WriteContext): void {
  const spec = record(draft["spec"]);
  draft["spec"] = spec;
  const was = old && record(fields(old)["spec"]);
  settleAddresses(spec, was);
  if (spec["type"] === "ExternalName") return;
  const available = serviceNetworks(cluster.serviceCidr).map((n) => n.family);
  const wrong = familyProblems(spec, was);
  const problems = wrong.length > 0 ? wrong : settleFamilies(spec, was, available);
  if (problems.length > 0) throw invalid({ group: "", kind: "Service" }, draft.metadata.name, problems);
}

/** An external name has no traffic of its own to say anything about: it may be stored, but is not read. */
function withoutInternal(object: KubeObject): KubeObject {
  const { internalTrafficPolicy, ...spec } = record(fields(object)["spec"]);
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  // The answer to the write that ends an object is not read from the store.
  const isEnd = deletionTimestamp !== undefined && finalizers.length === 0;
  if (isEnd || spec["type"] !== "ExternalName" || internalTrafficPolicy === undefined) return object;
  return { ...object, spec } as KubeObject;
}

export { claims } from "./service-allocation.ts";
