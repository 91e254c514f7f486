import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../clusters/cluster.ts";
import { fields, record, records, text, texts, type Json } from "../json.ts";
import type { Attributes, Decision } from "./attributes.ts";
import type { User } from "./user.ts";

const GROUP = "rbac.authorization.k8s.io";

interface Binding {
  readonly subjects: readonly Json[];
  readonly namespace: string;
  readonly role: { readonly kind: string; readonly name: string };
  readonly about: string;
}

interface Grant {
  readonly binding: Binding;
  readonly subject: Json;
  readonly rules: readonly Json[];
}

/** The rules of one cluster, read from its store when first asked and after any change to them. */
export class Rbac {
  readonly #cluster: Cluster;
  #bindings: { cluster: readonly Binding[]; byNamespace: ReadonlyMap<string, readonly Binding[]> } | undefined;
  #rules = new Map<string, readonly Json[]>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    cluster.changes.listen(({ resource }) => {
      if (resource.group === GROUP) this.#forget();
    });
  }

  #forget(): void {
    this.#bindings = undefined;
    this.#rules = new Map();
  }

  decide(attributes: Attributes): Decision {
    for (const { binding, subject, rules } of this.#granted(attributes.user, attributes.namespace)) {
      if (rules.some((rule) => covers(rule, attributes)))
        return { allowed: true, reason: `RBAC: allowed by ${binding.about} to ${subjectShown(subject)}` };
    }
    return { allowed: false, reason: "" };
  }

  /** Every rule that holds for a user in a namespace. */
  rulesFor(user: User, namespace: string): readonly Json[] {
    return [...this.#granted(user, namespace)].flatMap(({ rules }) => [...rules]);
  }

  *#granted(user: User, namespace: string): Generator<Grant> {
    this.#bindings ??= this.#read();
    const { cluster, byNamespace } = this.#bindings;
    for (const binding of [...cluster, ...(byNamespace.get(namespace) ?? [])]) {
      const subject = binding.subjects.find((s) => isSubject(s, user, binding.namespace));
      if (subject) yield { binding, subject, rules: this.#rulesOf(binding) };
    }
  }

  #list(plural: string): readonly KubeObject[] {
    const resource = `${GROUP}/${plural}`;
    return this.#cluster.store.list({ cluster: this.#cluster.name, resource }).items.map((i) => i.object);
  }

  #read(): { cluster: readonly Binding[]; byNamespace: ReadonlyMap<string, readonly Binding[]> } {
    const byNamespace = new Map<string, Binding[]>();
    for (const object of this.#list("rolebindings")) {
      const namespace = object.metadata.namespace ?? "";
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), bindingOf(object)]);
    }
    return { cluster: this.#list("clusterrolebindings").map(bindingOf), byNamespace };
  }

  #rulesOf(binding: Binding): readonly Json[] {
    const { kind, name } = binding.role;
    const namespace = kind === "Role" ? binding.namespace : "";
    const key = `${kind}/${namespace}/${name}`;
    const known = this.#rules.get(key);
    if (known) return known;
    const resource = `${GROUP}/${kind === "Role" ? "roles" : "clusterroles"}`;
    const stored = this.#cluster.store.get({ cluster: this.#cluster.name, resource, namespace, name });
    const rules = stored ? records(fields(stored.object)["rules"]) : [];
    this.#rules.set(key, rules);
    return rules;
  }
}

function bindingOf(object: KubeObject): Binding {
  const binding = fields(object);
  const role = record(binding["roleRef"]);
  const name = text(role["name"]);
  const kind = text(role["kind"]);
  const of = object.metadata.namespace ? `${object.metadata.name}/${object.metadata.namespace}` : object.metadata.name;
  return {
    subjects: records(binding["subjects"]),
    namespace: object.metadata.namespace ?? "",
    role: { kind, name },
    about: `${object.kind} "${of}" of ${kind} "${name}"`,
  };
}

function subjectShown({ kind, name, namespace }: Json): string {
  const shown = kind === "ServiceAccount" ? `${text(name)}/${text(namespace)}` : text(name);
  return `${text(kind)} ${JSON.stringify(shown)}`;
}

function isSubject(subject: Json, user: User, bindingNamespace: string): boolean {
  const name = text(subject["name"]);
  switch (subject["kind"]) {
    case "User":
      return user.name === name;
    case "Group":
      return user.groups.includes(name);
    case "ServiceAccount":
      return user.name === `system:serviceaccount:${text(subject["namespace"]) || bindingNamespace}:${name}`;
    default:
      return false;
  }
}

/** True if a rule allows what is asked. */
export function covers(rule: Json, asked: Attributes): boolean {
  if (!includes(rule["verbs"], asked.verb)) return false;
  if (asked.path !== undefined) return coversPath(texts(rule["nonResourceURLs"]), asked.path);
  const names = texts(rule["resourceNames"]);
  return (
    includes(rule["apiGroups"], asked.group) &&
    coversResource(texts(rule["resources"]), asked) &&
    (names.length === 0 || names.includes(asked.name))
  );
}

function includes(values: unknown, wanted: string): boolean {
  const list = texts(values);
  return list.includes("*") || list.includes(wanted);
}

function coversResource(resources: readonly string[], { plural, subresource }: Attributes): boolean {
  const whole = subresource ? `${plural}/${subresource}` : plural;
  return resources.some((r) => r === "*" || r === whole || (subresource !== "" && r === `*/${subresource}`));
}

function coversPath(paths: readonly string[], path: string): boolean {
  return paths.some((p) => p === "*" || p === path || (p.endsWith("*") && path.startsWith(p.slice(0, -1))));
}
