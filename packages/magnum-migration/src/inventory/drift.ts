import type { ClusterFacts, StackFacts } from "./read.ts";

type Json = Readonly<Record<string, unknown>>;

/** As it is compared and shown: Heat has numbers as texts. Undefined: it is not given. */
const shown = (value: unknown): string | undefined =>
  (typeof value === "string" && value !== "") || typeof value === "number" ? String(value) : undefined;
const objectOf = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});

/** Parameter of the driver's template → attribute of the node group whose stack it is. */
const parameters = {
  worker: { number_of_minions: "node_count", minion_flavor: "flavor_id", minion_image: "image_id" },
  master: { number_of_masters: "node_count", master_flavor: "flavor_id", master_image: "image_id" },
} as const;

/**
 * Where the running cluster is not what its template says now, and where Heat built it with other values than Magnum
 * has: each in words. Labels that the cluster has in addition are its user's choice. Pure.
 */
export function driftOf(facts: ClusterFacts): readonly string[] {
  return [...fromTemplate(facts), ...facts.groups.flatMap((group) => fromStack(facts, group))];
}

function fromTemplate({ cluster, template, groups }: ClusterFacts): readonly string[] {
  const [own, declared] = [objectOf(cluster.labels), objectOf(template["labels"])];
  const labels = Object.keys(declared)
    .toSorted()
    .flatMap((name) => differing(`label ${name}`, own[name], ["template", declared[name]], true));
  const attributes = ["flavor_id", "master_flavor_id", "docker_volume_size"].flatMap((name) =>
    differing(name, cluster[name], ["template", template[name]]),
  );
  const worker = groups.find((group) => group["is_default"] === true && group["role"] === "worker");
  const image = differing("image_id", worker?.["image_id"], ["template", template["image_id"]]);
  return [...labels, ...attributes, ...image];
}

function fromStack({ cluster, stacks }: ClusterFacts, group: Json): readonly string[] {
  const stack: StackFacts | undefined = stacks.find(({ id }) => id === (group["stack_id"] ?? cluster.stack_id));
  const heat = stack?.parameters ?? {};
  const kind = group["role"] === "master" ? "master" : "worker";
  const of = shown(group["name"]) ?? kind;
  const attributes = Object.entries(parameters[kind]).flatMap(([parameter, name]) =>
    differing(`${name} of node group ${of}`, group[name], [`Heat's ${parameter}`, heat[parameter]]),
  );
  const labels =
    Object.keys(objectOf(group["labels"])).length > 0 ? objectOf(group["labels"]) : objectOf(cluster.labels);
  return [
    ...attributes,
    ...differing(`label kube_tag of node group ${of}`, labels["kube_tag"], ["Heat's kube_tag", heat["kube_tag"]]),
  ];
}

/** A difference, unless one of the two is not given; with `isMissing` the first may be. */
function differing(
  what: string,
  value: unknown,
  [where, other]: readonly [string, unknown],
  isMissing = false,
): readonly string[] {
  const [is, should] = [shown(value), shown(other)];
  if (should === undefined || is === should || (is === undefined && !isMissing)) return [];
  return [`${what} is ${is === undefined ? "not set" : is.slice(0, 100)} (${where}: ${should.slice(0, 100)})`];
}
