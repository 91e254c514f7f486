import { CausewayError } from "@causeway/foundation";

/** The error for a list whose pages do not come to an end. */
export function errorFromPages(service: string, many: string, why: string): CausewayError {
  return new CausewayError(
    "OPENSTACK_LIST_ENDLESS",
    `The list of ${many} of ${service} was not read to its end: ${why}.`,
    {
      hint: "Something other than the service may respond at its address; check the catalog's endpoint.",
      details: { service, list: many },
    },
  );
}
