/**
 * 32 hexadecimal digits, as Keystone makes ids of users and projects, also with a UUID's dashes; 64 for users of LDAP
 * and federation.
 */
const ID = /^([\da-f]{32}|[\da-f]{64}|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i;

/**
 * Whether a text has the form of an id. The administrator of any domain chooses the names of its users, projects and
 * groups: a name of this form must never represent the id that it repeats.
 */
export function hasFormOfId(text: string): boolean {
  return ID.test(text);
}

/** What one thing in Keystone is known by; several where a review has several. */
export interface Known {
  readonly ids: readonly string[];
  readonly names: readonly string[];
}

/**
 * Whether one of the values is an id of it, or a name of it. A value in the form of an id is compared with ids only.
 */
export function isOneOf(values: readonly string[], { ids, names }: Known): boolean {
  return values.some((value) => ids.includes(value) || (!hasFormOfId(value) && names.includes(value)));
}
