import { array, at, isRecord, record, records, text, type Json } from "../../../json/json.ts";
import { labelValueFaults } from "../../../syntax/names.ts";

const instead = (since: string, label: string): string => `deprecated since v${since}; use "${label}" instead`;

/** Labels of nodes that have other names by now. Source: Kubernetes, "Well-Known Labels, Annotations and Taints". */
const DEPRECATED: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": instead("1.14", "kubernetes.io/arch"),
  "beta.kubernetes.io/os": instead("1.14", "kubernetes.io/os"),
  "failure-domain.beta.kubernetes.io/region": instead("1.17", "topology.kubernetes.io/region"),
  "failure-domain.beta.kubernetes.io/zone": instead("1.17", "topology.kubernetes.io/zone"),
  "beta.kubernetes.io/instance-type": instead("1.17", "node.kubernetes.io/instance-type"),
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const MATCHES_NONE = "a null labelSelector results in matching no pod";

/** What is odd about how a pod chooses its node by the node's labels: the pod's spec at `path`. */
export function nodeWarnings(spec: Json, path: string): string[] {
  const chosen = Object.keys(record(spec["nodeSelector"]))
    .filter((key) => DEPRECATED[key] !== undefined)
    .map((key) => `${path}.nodeSelector[${key}]: ${DEPRECATED[key] ?? ""}`);
  const affinity = `${path}.affinity.nodeAffinity`;
  const node = record(at(spec, "affinity", "nodeAffinity"));
  const needed = records(at(node, REQUIRED, "nodeSelectorTerms")).flatMap((term, i) =>
    termWarnings(term, `${affinity}.${REQUIRED}.nodeSelectorTerms[${i}]`, false),
  );
  const wished = records(node[PREFERRED]).flatMap((one, i) =>
    termWarnings(record(one["preference"]), `${affinity}.${PREFERRED}[${i}].preference`, true),
  );
  return [...chosen, ...needed, ...wished, ...spreadWarnings(spec, path)];
}

function termWarnings(term: Json, field: string, values: boolean): string[] {
  return records(term["matchExpressions"]).flatMap((expression, i) => {
    const place = `${field}.matchExpressions[${i}]`;
    const key = text(expression["key"]);
    const why = DEPRECATED[key];
    const old = why === undefined ? [] : [`${place}.key: ${key} is ${why}`];
    if (!values) return old;
    const wrong = array(expression["values"]).flatMap((value, j) =>
      labelValueFaults(text(value)).map((fault) => `${place}.values[${j}]: ${text(value)} is invalid, ${fault}`),
    );
    return [...old, ...wrong];
  });
}

function spreadWarnings(spec: Json, path: string): string[] {
  return records(spec["topologySpreadConstraints"]).flatMap((constraint, i) => {
    const field = `${path}.topologySpreadConstraints[${i}]`;
    const key = text(constraint["topologyKey"]);
    const why = DEPRECATED[key];
    return [
      ...(why === undefined ? [] : [`${field}.topologyKey: ${key} is ${why}`]),
      ...(isRecord(constraint["labelSelector"]) ? [] : [`${field}.labelSelector: ${MATCHES_NONE}`]),
    ];
  });
}

/** The same of how it chooses its neighbours. */
export function neighbourWarnings(spec: Json, path: string): string[] {
  return ["podAffinity", "podAntiAffinity"].flatMap((name) => {
    const affinity = record(at(spec, "affinity", name));
    const field = `${path}.affinity.${name}`;
    const isBare = (term: unknown): boolean => !isRecord(record(term)["labelSelector"]);
    const warningsFor = (list: string, part: string, bare: (term: Json) => boolean): string[] =>
      records(affinity[list]).flatMap((term, i) =>
        bare(term) ? [`${field}.${list}[${i}]${part}.labelSelector: ${MATCHES_NONE}`] : [],
      );
    return [
      ...warningsFor(REQUIRED, "", isBare),
      ...warningsFor(PREFERRED, ".podAffinityTerm", (term) => isBare(term["podAffinityTerm"])),
    ];
  });
}
