import { annotations, type KubeadmControlPlane } from "@causeway/api";
import { isBornBefore } from "../objects/template.ts";
import { isStoredAlike } from "../objects/versions.ts";
import type { OwnedMachine } from "./observed.ts";
import { isCurrentConfig } from "./machine.ts";

const day = 24 * 3600_000;

/** Why a machine is to be replaced; empty when it is as the control plane wants it. */
export function outdatedBecause(control: KubeadmControlPlane, owned: OwnedMachine, now: number): string[] {
  const { machine, config, host } = owned;
  const { version } = control.spec;
  const reasons: [boolean, string][] = [
    [
      !isStoredAlike(machine.spec.version, version),
      `Version ${machine.spec.version ?? "unknown"}, ${version} required`,
    ],
    [config?.object !== undefined && !isCurrentConfig(control, config.object.spec), "KubeadmConfig is not up-to-date"],
    [isOfAnotherTemplate(control, owned), `${host.reference.kind} is not up-to-date`],
    [isBeforeRollout(control, owned, now), "rollout.after expired"],
    [expiresSoon(control, owned, now), "Certificates will expire soon"],
  ];
  return reasons.filter(([applies]) => applies).map(([, reason]) => reason);
}

/** A host that does not say what it was cloned from is not judged. */
function isOfAnotherTemplate({ spec }: KubeadmControlPlane, { host }: OwnedMachine): boolean {
  const { apiGroup, kind, name } = spec.machineTemplate.spec.infrastructureRef;
  const cloned = host.object?.metadata.annotations;
  const from = cloned?.[annotations.clonedFromName];
  if (from === undefined) return false;
  return from !== name || cloned?.[annotations.clonedFromGroupKind] !== `${kind}.${apiGroup}`;
}

function isBeforeRollout({ spec }: KubeadmControlPlane, { machine }: OwnedMachine, now: number): boolean {
  const after = Date.parse(spec.rollout?.after ?? "");
  return after <= now && isBornBefore(machine, after);
}

function expiresSoon({ spec }: KubeadmControlPlane, { machine }: OwnedMachine, now: number): boolean {
  const days = spec.rollout?.before?.certificatesExpiryDays;
  const expiry = Date.parse(machine.metadata.annotations?.[annotations.certificatesExpiry] ?? "");
  return days !== undefined && expiry - days * day <= now;
}

/** When a machine next becomes outdated by time alone. */
export function outdatedAt(
  control: KubeadmControlPlane,
  machines: readonly OwnedMachine[],
  now: number,
): number | undefined {
  const { rollout } = control.spec;
  const days = rollout?.before?.certificatesExpiryDays;
  const times = [
    Date.parse(rollout?.after ?? ""),
    ...machines.map(({ machine }) =>
      days === undefined
        ? NaN
        : Date.parse(machine.metadata.annotations?.[annotations.certificatesExpiry] ?? "") - days * day,
    ),
  ].filter((time) => time > now);
  return times.length > 0 ? Math.min(...times) : undefined;
}
