import { shortList } from "@causeway/foundation";
import {
  OpenStackCluster,
  OpenStackFloatingIPPool,
  OpenStackMachine,
  OpenStackServer,
  type IdentityReference,
  type OpenStackClusterIdentity,
} from "@causeway/api";
import {
  isForbidden,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
  type SelectorLike,
} from "@causeway/kubernetes";
import { quoted, firstProblems } from "./fields.ts";

/** An object that says which credentials are its own. */
type Owner = KubeObject & { readonly spec: { readonly identityRef?: IdentityReference } };

/** "Kind namespace/name" of the objects that use an OpenStackClusterIdentity. */
export type IdentityUsers = (identity: string) => Promise<readonly string[]>;

const SHOWN = 5;

/** Large lists last: the first kinds mostly have users enough. */
const kinds: readonly ResourceType<Owner>[] = [
  OpenStackCluster,
  OpenStackFloatingIPPool,
  OpenStackServer,
  OpenStackMachine,
];

/**
 * Reads them from the API server, kind by kind, until there are enough to refuse. `namespace`: the one that is read
 * where the rights are for no other. `client` is called when something is read.
 */
export function identityUsersOf(client: () => KubernetesClient, namespace?: string): IdentityUsers {
  const listOf = async (type: ResourceType<Owner>): Promise<readonly Owner[]> => {
    try {
      return (await client().list(type)).items;
    } catch (error) {
      if (namespace === undefined || !isForbidden(error)) throw error;
      return (await client().list(type, { namespace })).items;
    }
  };
  return async (identity) => {
    const users: string[] = [];
    for (const type of kinds) {
      const items = await listOf(type);
      for (const { metadata, spec } of items)
        if (spec.identityRef?.type === "ClusterIdentity" && spec.identityRef.name === identity)
          users.push(`${type.kind} ${metadata.namespace}/${metadata.name}`);
      if (users.length > SHOWN) break;
    }
    return users;
  };
}

/** Objects without their credentials could not be deleted: their resources would remain in the cloud. */
export function identityDeletionRefusals(users: readonly string[]): string[] {
  if (users.length === 0) return [];
  return [
    `it is used by ${shortList(users, SHOWN, { isPartial: true })}; delete them first, or give them other credentials`,
  ];
}

/** Why an OpenStackClusterIdentity is refused: a selector that Kubernetes would not accept matches no namespace. */
export function identityRefusals({ metadata, spec }: OpenStackClusterIdentity): string[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  return firstProblems(selectorRefusals(spec.namespaceSelector ?? {}, "spec.namespaceSelector"));
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set */
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

function isLabelKey(key: string): boolean {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  return parts.length <= 2 && NAME.test(name) && (parts.length === 1 || PREFIX.test(parts[0] ?? ""));
}

const isLabelValue = (value: string): boolean => value === "" || NAME.test(value);
const withValues = ["In", "NotIn"];
const withoutValues = ["Exists", "DoesNotExist"];

function selectorRefusals({ matchLabels = {}, matchExpressions = [] }: SelectorLike, path: string): string[] {
  const labels = Object.entries(matchLabels).flatMap(([key, value]) => [
    ...keyRefusals(key, `${path}.matchLabels`),
    ...valueRefusals([value], `${path}.matchLabels`),
  ]);
  const expressions = matchExpressions.flatMap(({ key, operator, values = [] }, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    return [
      ...keyRefusals(key, `${at}.key`),
      ...valueRefusals(values, `${at}.values`),
      ...operatorRefusals(operator, values, at),
    ];
  });
  return [...labels, ...expressions];
}

function keyRefusals(key: string, path: string): string[] {
  return isLabelKey(key) ? [] : [`${path}: Invalid value: ${quoted(key)} is not the key of a label`];
}

function valueRefusals(values: readonly string[], path: string): string[] {
  return values
    .filter((value) => !isLabelValue(value))
    .map((value) => `${path}: Invalid value: ${quoted(value)} is not the value of a label`);
}

function operatorRefusals(operator: string, values: readonly string[], path: string): string[] {
  if (withValues.includes(operator))
    return values.length > 0 ? [] : [`${path}.values: Required value: operator ${operator} needs some`];
  if (withoutValues.includes(operator))
    return values.length === 0 ? [] : [`${path}.values: Forbidden: operator ${operator} has none`];
  return [`${path}.operator: Invalid value: ${quoted(operator)} is none of In, NotIn, Exists, DoesNotExist`];
}
