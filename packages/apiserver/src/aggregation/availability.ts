import { messageOf } from "@causeway/foundation";
import type { Extension } from "../contract/aggregation.ts";
import type { Cluster } from "../contract/cluster.ts";
import { array, at, records, text, type Json } from "../json/json.ts";

/** The condition of an APIService. */
export interface Condition {
  readonly type: "Available";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

const condition = (status: "True" | "False", reason: string, message: string): Condition => ({
  type: "Available",
  status,
  reason,
  message,
});

/** Of the groups that this server serves itself. */
export const LOCAL = condition("True", "Local", "Local APIServices are always available");
/** Of an extension that responds. */
export const PASSED = condition("True", "Passed", "all checks passed");

/** This server has a kind of the group and version: requests are served here, and not passed on. */
export function servedHere({ group, version }: Extension): Condition {
  const message = `${group}/${version} is served by this server itself: requests are not passed on`;
  return condition("False", "ServedLocally", message);
}

/**
 * What the objects of the extension's Service say against it; undefined: nothing. Source: k8s.io/kube-aggregator,
 * remote_available_controller.go.
 */
export function serviceProblem(
  { name: cluster, store }: Pick<Cluster, "name" | "store">,
  { service }: Extension,
): Condition | undefined {
  const { namespace, name, port } = service;
  const where = `service/${name} in ${JSON.stringify(namespace)}`;
  const found = store.get({ cluster, resource: "/services", namespace, name })?.object;
  if (found === undefined) return condition("False", "ServiceNotFound", `${where} is not present`);
  if (at(found, "spec", "type") === "ExternalName") return undefined;
  const wanted = records(at(found, "spec", "ports")).find((each) => each["port"] === port);
  if (wanted === undefined) return condition("False", "ServicePortError", `${where} is not listening on port ${port}`);
  const portName = text(wanted["name"]);
  const slices = store
    .list({ cluster, resource: "discovery.k8s.io/endpointslices", namespace })
    .items.map(({ object }) => object)
    .filter((slice) => slice.metadata.labels?.["kubernetes.io/service-name"] === name);
  const endpoints = store.get({ cluster, resource: "/endpoints", namespace, name })?.object;
  if (slices.length === 0 && endpoints === undefined)
    return condition("False", "EndpointsNotFound", `cannot find endpointslices for ${where}`);
  const isNamed = (list: unknown): boolean => records(list).some((each) => text(each["name"]) === portName);
  const hasSlice = slices.some(
    (slice) =>
      isNamed(at(slice, "ports")) &&
      records(at(slice, "endpoints")).some(
        (endpoint) => at(endpoint, "conditions", "ready") !== false && array(endpoint["addresses"]).length > 0,
      ),
  );
  const hasSubset = records(at(endpoints, "subsets")).some(
    (subset) => isNamed(subset["ports"]) && records(subset["addresses"]).length > 0,
  );
  if (hasSlice || hasSubset) return undefined;
  const message = `endpoints for ${where} have no addresses with port name ${JSON.stringify(portName)}`;
  return condition("False", "MissingEndpoints", message);
}

/** The resources that the server of an extension lists, or why it is not available. */
export async function probe(
  { group, version }: Extension,
  get: (path: string) => Promise<{ readonly code: number; readonly text: string }>,
): Promise<{ readonly resources: readonly Json[] } | { readonly problem: Condition }> {
  const path = `/apis/${group}/${version}`;
  const failed = (why: string) => ({
    problem: condition("False", "FailedDiscoveryCheck", `failing or missing response from ${path}: ${why}`),
  });
  try {
    const { code, text: body } = await get(path);
    if (code < 200 || code >= 300) return failed(`bad status from ${path}: ${code}`);
    const parsed: unknown = JSON.parse(body);
    if (at(parsed, "kind") !== "APIResourceList") return failed("it is no APIResourceList");
    return { resources: records(at(parsed, "resources")) };
  } catch (error) {
    return failed(messageOf(error));
  }
}
