import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { fields, record, records, text, texts, type Json } from "../json/json.ts";
import type { UserRules } from "../contract/resource.ts";
import type { Attributes, Decision } from "../contract/attributes.ts";
import type { User } from "../contract/user.ts";

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
  /** undefined when there is no such role. */
  readonly rules: readonly Json[] | undefined;
}

/** The rules of one cluster, read from its store at the first request and after any change to them. */
export class Rbac {
  readonly #cluster: Cluster;
  #bindings: { cluster: readonly Binding[]; byNamespace: ReadonlyMap<string, readonly Binding[]> } | undefined;
  #rules = new Map<string, readonly Json[] | undefined>();

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
    const missing: string[] = [];
    for (const { binding, subject, rules } of this.#granted(attributes.user, attributes.namespace)) {
      if (rules?.some((rule) => covers(rule, attributes)))
        return { allowed: true, reason: `RBAC: allowed by ${binding.about} to ${subjectShown(subject, binding)}` };
      if (!rules) missing.push(notFoundShown(binding.role));
    }
    return { allowed: false, reason: missing.length > 0 ? `RBAC: ${aggregated(missing)}` : "" };
  }

  /** Every rule that holds for a user in a namespace, and the roles that are bound and not there. */
  rulesFor(user: User, namespace: string): UserRules {
    const grants = [...this.#granted(user, namespace)];
    return {
      rules: grants.flatMap(({ rules = [] }) => [...rules]),
      unresolved: grants.filter(({ rules }) => !rules).map(({ binding }) => binding.role),
    };
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

  #rulesOf(binding: Binding): readonly Json[] | undefined {
    const { kind, name } = binding.role;
    const namespace = kind === "Role" ? binding.namespace : "";
    const key = `${kind}/${namespace}/${name}`;
    if (this.#rules.has(key)) return this.#rules.get(key);
    const resource = `${GROUP}/${kind === "Role" ? "roles" : "clusterroles"}`;
    const stored = this.#cluster.store.get({ cluster: this.#cluster.name, resource, namespace, name });
    const rules = stored && records(fields(stored.object)["rules"]);
    this.#rules.set(key, rules);
    return rules;
  }
}

/** As client-go's listers say it. */
export function notFoundShown({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind.toLowerCase()}.${GROUP} ${JSON.stringify(name)} not found`;
}

/** Several errors as Kubernetes joins them. */
export function aggregated(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
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

function subjectShown({ kind, name, namespace }: Json, binding: Binding): string {
  const shown = kind === "ServiceAccount" ? `${text(name)}/${text(namespace) || binding.namespace}` : text(name);
  return `${text(kind)} ${JSON.stringify(shown)}`;
}

function isSubject(subject: Json, user: User, bindingNamespace: string): boolean {
  const name = text(subject["name"]);
  switch (subject["kind"]) {
    case "User":
      return user.name === name;
    case "Group":
      return user.groups.includes(name);
    case "ServiceAccount": {
      const namespace = text(subject["namespace"]) || bindingNamespace;
      return namespace !== "" && user.name === `system:serviceaccount:${namespace}:${name}`;
    }
    default:
      return false;
  }
}

/** True if a rule allows what is requested. */
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
