import type { Volume } from "@causeway/openstack";

/** Milliseconds: csi-attacher requests all volumes once a minute, and compares where they are attached. */
const SOONEST = 50_000;
/** Whatever is still, a detachment by hand is seen in this time. */
const LATEST = 15 * 60_000 - 10_000;

/**
 * Milliseconds after a list at which ListVolumes needs another one: a minute while volumes change, then half as long as
 * nothing has changed. Without an attached volume no detachment by hand can be missed.
 */
export function listAfter(volumes: readonly Volume[], now: number): number {
  if (!volumes.some(({ attachments }) => attachments.length > 0)) return Number.POSITIVE_INFINITY;
  const still = now - volumes.reduce((newest, volume) => Math.max(newest, changedAt(volume)), 0);
  return Math.min(LATEST, Math.max(SOONEST, still / 2));
}

/** Cinder's times are UTC, without a zone. */
function changedAt({ updated_at, created_at }: Volume): number {
  const at = Date.parse(`${(updated_at ?? created_at ?? "").slice(0, 19)}Z`);
  return Number.isNaN(at) ? 0 : at;
}
