import { createHash } from "node:crypto";
import type { Cluster, ClusterClass } from "@causeway/api";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { Fields } from "../gotemplate/values.ts";
import { inline, isDefinedFor, type ClassVariable } from "../variables/class-variables.ts";
import type { VariableValue } from "../variables/cluster-variables.ts";
import { variablesOf } from "./builtins.ts";
import type { Generated, GeneratedPatch } from "./generated.ts";
import { patchedTemplate, type Holder } from "./patches.ts";

/** Where a template is used: the object that refers to it, and the field in which it does. */
export interface HolderReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldPath: string;
}

/** A template with its patches so far, as extensions see it. */
export interface PatchItem {
  readonly uid: string;
  readonly holderReference: HolderReference;
  readonly object: ProviderObject;
  /** What its control plane or workers have in the place of the Cluster's. */
  readonly overrides: readonly VariableValue[];
  /** Its own part of the variable `builtin`. */
  readonly builtin: Fields | undefined;
}

/** What the patches of a Cluster's templates have in common. */
interface PatcherInput {
  readonly cluster: Cluster;
  readonly class: ClusterClass;
  /** Patches of the class that are applied: the first ones. */
  readonly count: number;
  readonly definitions: readonly ClassVariable[];
  /** The Cluster's variables, and `builtin.cluster`. */
  readonly variables: readonly VariableValue[];
  readonly builtins: Fields;
  readonly generated: Generated;
}

/** A template, and what its patches may know of it. */
export interface PatchTarget {
  readonly template: ProviderObject;
  readonly holder: Holder;
  readonly reference: Omit<HolderReference, "namespace">;
  readonly overrides?: readonly VariableValue[];
  readonly builtin?: Fields;
}

/** Patches the templates of one Cluster, one after the other, and keeps each as extensions are shown it. */
export class TemplatePatcher {
  readonly #input: PatcherInput;
  readonly #items: PatchItem[] = [];
  readonly #inline: ReadonlySet<string>;
  readonly #generated: ReadonlyMap<string, ReadonlyMap<string, readonly GeneratedPatch[]>>;

  constructor(input: PatcherInput) {
    this.#input = input;
    this.#inline = new Set(input.definitions.filter(({ from }) => from.includes(inline)).map(({ name }) => name));
    this.#generated = new Map([...input.generated].map(([name, list]) => [name, Map.groupBy(list, ({ uid }) => uid)]));
  }

  get items(): readonly PatchItem[] {
    return this.#items;
  }

  /** @throws TopologyProblem */
  patch({ template, holder, reference, overrides = [], builtin }: PatchTarget): ProviderObject {
    const { cluster, class: clusterClass, count, variables, builtins } = this.#input;
    const holderReference = { ...reference, namespace: cluster.metadata.namespace ?? "" };
    const uid = uidOf(cluster, holderReference);
    const isInline = ({ name }: VariableValue) => this.#inline.has(name);
    const object = patchedTemplate({
      patches: (clusterClass.spec.patches ?? []).slice(0, count),
      template,
      holder,
      variables: variablesOf(variables.filter(isInline), overrides.filter(isInline), { cluster: builtins, ...builtin }),
      generated: new Map([...this.#generated].map(([name, byUid]) => [name, byUid.get(uid) ?? []])),
    });
    this.#items.push({ uid, holderReference, object, overrides, builtin });
    return object;
  }

  /** The variables of the Cluster and of one of its templates that a patch may read, as hooks have them. */
  variablesFor(patch: string, item?: PatchItem): VariableValue[] {
    const { definitions, variables, builtins } = this.#input;
    const known = new Set(definitions.filter((one) => isDefinedFor(one, patch)).map(({ name }) => name));
    const own = item ? item.overrides : variables;
    const builtin = item ? item.builtin : { cluster: builtins };
    return [
      ...own.filter(({ name }) => known.has(name)),
      ...(builtin === undefined ? [] : [{ name: "builtin", value: builtin }]),
    ];
  }
}

/** The same for the same template, so that equal requests are equal. */
function uidOf({ metadata }: Cluster, { kind, name, fieldPath }: HolderReference): string {
  const seed = JSON.stringify([metadata.uid ?? metadata.name, kind, name, fieldPath]);
  const digest = createHash("sha256").update(seed).digest("hex");
  return [8, 12, 16, 20, 32].map((end, at, ends) => digest.slice(ends[at - 1] ?? 0, end)).join("-");
}
