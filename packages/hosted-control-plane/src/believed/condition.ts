import type { HostedControlPlane } from "@causeway/api";
import { canonicalJson } from "@causeway/foundation";
import { getCondition, type Condition, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import type { IssuerFacts } from "./facts.ts";

const TYPE = "IssuersAccepted";
const REFUSED = "IssuersNotAccepted";

/** Do API servers believe the issuers of the request? Nothing before that is known, and nothing without the field. */
export function issuerConditions(
  { spec, status }: HostedControlPlane,
  facts: IssuerFacts | undefined,
): WantedCondition[] {
  const { jwt } = spec.authentication ?? {};
  const known = getCondition(status?.conditions as Condition[] | undefined, TYPE);
  if (jwt === undefined) {
    // Said once that it is over, a condition of this type is never removed.
    return known === undefined ? [] : [{ type: TYPE, status: "True", reason: "NoIssuers" }];
  }
  if (facts === undefined) return [];
  const isOld = canonicalJson(facts.jwt) !== canonicalJson(jwt);
  if (isOld || facts.type === "pending") {
    const message = "API servers have not read the change yet";
    return known === undefined ? [] : [{ type: TYPE, status: "Unknown", reason: "WaitingForAPIServers", message }];
  }
  if (facts.type === "accepted") return [{ type: TYPE, status: "True", reason: "IssuersAccepted" }];
  return [{ type: TYPE, status: "False", reason: REFUSED, message: messageOf(facts) }];
}

function messageOf({ jwt, named }: Extract<IssuerFacts, { type: "refused" }>): string {
  const urls = named.length > 0 ? named : jwt.map(({ issuer }) => issuer.url);
  const list = urls.join(", ");
  const who = named.length > 0 || urls.length === 1 ? list : `at least one of ${list}`;
  return `API servers do not accept spec.authentication.jwt, and believe the issuers of before, also those that the change removes: ${who} did not respond to them as an issuer; its owner must repair it, or the author of the object removes it from the list; the operator must act if its network is closed to API servers (ISSUERS_NOT_ACCEPTED)`;
}

/** An event when they are refused, and one when that is over. */
export function issuerEvents(object: HostedControlPlane, facts: IssuerFacts | undefined): PlannedEvent[] {
  const [wanted] = issuerConditions(object, facts);
  const known = getCondition(object.status?.conditions as Condition[] | undefined, TYPE);
  if (wanted === undefined || wanted.status === known?.status) return [];
  if (wanted.status === "False") return [{ type: "Warning", reason: REFUSED, message: wanted.message ?? "" }];
  if (wanted.status !== "True" || known?.status !== "False") return [];
  return [{ type: "Normal", reason: "IssuersAccepted", message: "API servers accept spec.authentication.jwt" }];
}
