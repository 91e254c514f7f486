import { shortList } from "@causeway/foundation";
import type { HostedControlPlane } from "@causeway/api";

type Authorities = NonNullable<NonNullable<HostedControlPlane["status"]>["authorities"]>;

/** What is requested of a control plane; undefined: what is requested already is followed. */
export type Request =
  | { readonly patch: NonNullable<HostedControlPlane["spec"]["authorities"]> | undefined; readonly rotation: string }
  | { readonly refusal: string };

/** The first phase: a new rotation, or the one that is running. `now`: RFC 3339, whole seconds. */
export function requestRotation({ status }: HostedControlPlane, now: string): Request {
  const { phase, rotation } = status?.authorities ?? {};
  if (phase === undefined) return { refusal: "it has no authorities yet" };
  if (phase !== "Current" && rotation !== undefined) return { patch: undefined, rotation };
  return { patch: { rotateAfter: now }, rotation: now };
}

/** The second phase of the rotation that is running. */
export function requestRetirement(
  { spec, status }: HostedControlPlane,
  { now, ignoreMachines }: { readonly now: string; readonly ignoreMachines: boolean },
): Request {
  const { phase, rotation } = status?.authorities ?? {};
  if (phase === undefined || phase === "Current" || rotation === undefined)
    return { refusal: "no rotation is under way, and nothing can be retired" };
  const asked = spec.authorities?.retireOldAfter;
  const isAsked =
    asked !== undefined && Date.parse(asked) >= Date.parse(rotation) && Date.parse(asked) <= Date.parse(now);
  const given = ignoreMachines ? { ignoreMachines: true } : {};
  if (isAsked && (!ignoreMachines || spec.authorities?.ignoreMachines === true)) return { patch: undefined, rotation };
  return { patch: { ...(isAsked ? {} : { retireOldAfter: now }), ...given }, rotation };
}

/** Is this phase of the rotation reached? */
export function isReached({ status }: HostedControlPlane, rotation: string, phase: "Prepared" | "Current"): boolean {
  const now = status?.authorities;
  if (now?.rotation === undefined || Date.parse(now.rotation) < Date.parse(rotation)) return false;
  // The first phase is reached as well when the rotation is past it.
  return now.phase === phase || (phase === "Prepared" && (now.phase === "Retiring" || now.phase === "Current"));
}

/** Where it is, in one line: the phase, and what the control plane says of it. */
export function progressOf({ status }: HostedControlPlane): string {
  const { phase = "Current" } = status?.authorities ?? {};
  const condition = status?.conditions?.find(({ type }) => type === "AuthoritiesCurrent");
  const message = condition?.status === "False" ? condition.message : undefined;
  return message === undefined || message === "" ? phase : `${phase}: ${message}`;
}

/** What a person does after the first phase. */
export function afterPreparation(cluster: string, { machines }: Authorities): string[] {
  const { names = [], count = names.length } = machines ?? {};
  return [
    ...(count === 0
      ? []
      : [`replace the machines that know only the old authority: ${shortList(names, names.length, { total: count })}`]),
    "distribute new kubeconfigs: `causeway kubeconfig cluster` prints one that has both authorities",
    `then: causeway rotate authority ${cluster} --retire`,
  ];
}
