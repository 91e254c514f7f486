const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** apimachinery's message for a name that is not a DNS subdomain. */
export const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** What keeps a text from being a DNS-1123 subdomain, in apimachinery's words. */
export function subdomainFaults(text: string): string[] {
  const faults = text.length > 253 ? ["must be no more than 253 characters"] : [];
  return SUBDOMAIN.test(text) ? faults : [...faults, SUBDOMAIN_RULE];
}

/** What keeps a text from being a DNS-1035 label, in apimachinery's words. */
export function label1035Faults(text: string): string[] {
  const faults = text.length > 63 ? ["must be no more than 63 characters"] : [];
  return LABEL_1035.test(text) ? faults : [...faults, LABEL_1035_RULE];
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** What keeps a text from being a DNS-1123 label, in apimachinery's words. */
export function labelFaults(text: string): string[] {
  const faults = text.length > 63 ? ["must be no more than 63 characters"] : [];
  if (LABEL.test(text)) return faults;
  return [...faults, subdomainFaults(text).length === 0 ? "must not contain dots" : LABEL_RULE];
}
