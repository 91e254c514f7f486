import { annotations, type KubeadmControlPlane } from "@causeway/api";
import type { OwnedMachine } from "./facts.ts";
import { isCurrentConfig } from "./machine.ts";

const day = 24 * 3600_000;

/** Why a machine is to be replaced; empty when it is as the control plane wants it. */
export function outdatedBecause(control: KubeadmControlPlane, owned: OwnedMachine, now: number): string[] {
  const { machine, config, host } = owned;
  const { version, machineTemplate, rollout } = control.spec;
  const reasons: string[] = [];
  if (machine.spec.version !== version)
    reasons.push(`Version ${machine.spec.version ?? "unknown"}, ${version} required`);
  if (config?.object && !isCurrentConfig(control, config.object.spec)) reasons.push("KubeadmConfig is not up-to-date");
  const { apiGroup, kind, name } = machineTemplate.spec.infrastructureRef;
  const cloned = host.object?.metadata.annotations;
  if (
    cloned?.[annotations.clonedFromName] !== undefined &&
    (cloned[annotations.clonedFromName] !== name || cloned[annotations.clonedFromGroupKind] !== `${kind}.${apiGroup}`)
  ) {
    reasons.push(`${host.reference.kind} is not up-to-date`);
  }
  const born = Date.parse(machine.metadata.creationTimestamp ?? "");
  const after = Date.parse(rollout?.after ?? "");
  if (after <= now && born < after) reasons.push("rollout.after expired");
  const days = rollout?.before?.certificatesExpiryDays;
  const expiry = Date.parse(machine.metadata.annotations?.[annotations.certificatesExpiry] ?? "");
  if (days !== undefined && expiry - days * day <= now) reasons.push("Certificates will expire soon");
  return reasons;
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
