import { label, needed, someOf, whereGiven, type FieldRule } from "../shared/rules.ts";

/** Rules of EndpointSlices by field. */
export const SLICE_RULES: readonly FieldRule[] = [
  ["addressType", someOf("FQDN", "IPv4", "IPv6")],
  ["endpoints[].addresses", needed("must contain at least 1 address")],
  ["ports[].name", whereGiven(label)],
];
