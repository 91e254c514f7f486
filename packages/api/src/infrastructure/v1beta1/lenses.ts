import { isJson, put, take, valueAt, type Json } from "../../lenses/json.ts";
import { all, converted, each, moved, onlyOlder, within, type Lens } from "../../lenses/lens.ts";

/** A flag that the stored version has with the opposite meaning. */
export function inverted(older: string, newer: string): Lens {
  const not = (value: unknown) => (typeof value === "boolean" ? !value : value);
  return converted(older, newer, { up: not, down: not });
}

/** A flavor is two fields in v1beta1: its name and its id. */
const flavor: Lens = {
  up(json) {
    const [name, id] = [take(json, "flavor"), take(json, "flavorID")];
    put(json, "flavor.filter.name", name);
    put(json, "flavor.id", id);
  },
  down(json) {
    const value = take(json, "flavor");
    if (!isJson(value)) return;
    put(json, "flavor", valueAt(value, "filter.name"));
    put(json, "flavorID", valueAt(value, "id"));
  },
};

const portSecurity = inverted("disablePortSecurity", "enablePortSecurity");

/** The spec of a machine. */
export const machineLens: Lens = all(flavor, each("ports", portSecurity));

/** What names and filters of a machine were resolved to. */
export const resolvedLens: Lens = each("resolved.ports", portSecurity);

/** The spec of a cluster. */
export const clusterLens: Lens = all(
  moved("apiServerFloatingIP", "apiServer.floatingIP"),
  moved("apiServerFixedIP", "apiServer.fixedIP"),
  moved("apiServerPort", "apiServer.port"),
  moved("apiServerLoadBalancer", "apiServer.managedLoadBalancer"),
  inverted("disableAPIServerFloatingIP", "apiServer.enableFloatingIP"),
  inverted("disableExternalNetwork", "enableExternalNetwork"),
  moved("networkMTU", "managedNetwork.mtu"),
  inverted("disablePortSecurity", "managedNetwork.enablePortSecurity"),
  moved("externalRouterIPs", "managedRouter.externalIPs"),
  moved("managedSecurityGroups.allNodesSecurityGroupRules", "managedSecurityGroups.clusterNodesSecurityGroupRules"),
  within("bastion.spec", machineLens),
);

/** Conditions of Cluster API before v1beta2 have a severity, and may have no reason. */
export const conditionsLens: Lens = converted("conditions", "conditions", {
  up: (value) => (Array.isArray(value) ? value.filter(isJson).map(newCondition) : value),
  down: (value) => (Array.isArray(value) ? value.filter(isJson).map(oldCondition) : value),
});

function newCondition({ severity: _only, reason, ...rest }: Json): Json {
  const fallback = rest["status"] === "True" ? String(rest["type"]) : "Unknown";
  return { ...rest, reason: typeof reason === "string" && reason !== "" ? reason : fallback };
}

function oldCondition({ observedGeneration: _only, ...rest }: Json): Json {
  return rest["status"] === "False" ? { ...rest, severity: "Error" } : rest;
}

/** Contract v1beta1 reads status.ready; nothing is final any more, so there are no failures. */
export const readyLens: Lens = {
  up(json, context) {
    onlyOlder("ready", "failureReason", "failureMessage").up(json, context);
  },
  down(json) {
    if (valueAt(json, "initialization.provisioned") === true) put(json, "ready", true);
  },
};

/** A map by name in v1beta1, a list in the stored version. */
export const failureDomainsLens: Lens = converted("failureDomains", "failureDomains", {
  up(value) {
    if (!isJson(value)) return value;
    return Object.keys(value)
      .toSorted()
      .map((name) => ({ name, ...(value[name] as Json) }));
  },
  down(value) {
    if (!Array.isArray(value)) return value;
    return Object.fromEntries(value.filter(isJson).map(({ name, ...rest }) => [String(name), rest]));
  },
});
