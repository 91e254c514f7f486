/** What the API server of a cluster accepts as keys and values of labels and taints. */

const NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const LONGEST_PREFIX = 253;

/** Whether a text is a qualified name: at most 63 characters, after a DNS subdomain and "/" if it has one. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return NAME.test(text);
  return slash <= LONGEST_PREFIX && PREFIX.test(text.slice(0, slash)) && NAME.test(text.slice(slash + 1));
}

/** Whether a text is the value of a label or taint: at most 63 characters, and it may be empty. */
export const isLabelValue = (text: string): boolean => text === "" || NAME.test(text);
