import type { OpenStackDeploymentSpec } from "@causeway/api";
import { backupParts, KEYS_BACKUP } from "../catalogue/index.ts";
import type { Component } from "../model/component.ts";
import { objectName, type Context } from "./context.ts";
import type { Parts } from "./types.ts";

/** How Jobs reach what they write backups to, and what they read of the deployment. */

type Target = NonNullable<OpenStackDeploymentSpec["backup"]>["target"];

function targetOf({ deployment }: Context, { vault }: Component): Target | undefined {
  const { backup, restore } = deployment.spec;
  return vault === "backup" ? backup?.target : vault === "restore" ? restore?.target : undefined;
}

/** Secrets that a backup of keys consists of, by the name that they have in it. */
const KEY_ROLES = ["credentials", "token-keys", "credential-keys", "authority"] as const;

/** What a Job of backups mounts: the target, the passphrase, and for keys the Secrets; nothing for other components. */
export function vaultParts(context: Context, component: Component): Parts {
  const parts: Parts = { volumes: [], mounts: [] };
  const { spec, metadata } = context.deployment;
  const target = targetOf(context, component);
  if (!target) return parts;
  const mount = (name: string, volume: Record<string, unknown>, mountPath: string, isOpen = false): void => {
    parts.volumes.push({ name, ...volume });
    parts.mounts.push({ name, mountPath, ...(isOpen ? {} : { readOnly: true }) });
  };
  const secret = (secretName: string) => ({ secret: { secretName, defaultMode: 0o440 } });
  const { claim, s3 } = target;
  if (claim !== undefined)
    mount("target", { persistentVolumeClaim: { claimName: claim } }, "/backup", component.vault === "backup");
  if (s3) mount("target", secret(s3.credentials.name), "/run/target");
  const usesPassphrase = component.name === KEYS_BACKUP || component.writesSecret !== undefined;
  const passphrase = (component.vault === "backup" ? spec.backup : spec.restore)?.keys.name;
  if (usesPassphrase && passphrase !== undefined) mount("passphrase", secret(passphrase), "/run/passphrase");
  if (component.name === KEYS_BACKUP)
    for (const role of KEY_ROLES) {
      // A deployment without certificates has no authority.
      const { secret: source } = secret(objectName(metadata.name, role));
      mount(`keys-${role}`, { secret: { ...source, optional: role === "authority" } }, `/run/keys/${role}`);
    }
  return parts;
}

/** The variables by which a Job of backups finds its target; empty for other components. */
export function vaultEnvironment(context: Context, component: Component): Record<string, string> {
  const { spec, metadata } = context.deployment;
  const target = targetOf(context, component);
  if (!target) return {};
  const { s3 } = target;
  const prefix = s3?.prefix === undefined ? "" : `/${s3.prefix}`;
  const place: Record<string, string> = s3
    ? {
        BACKUP_TARGET: `s3+${s3.endpoint.replace(/\/$/, "")}/${s3.bucket}${prefix}`,
        ...(s3.region === undefined ? {} : { BACKUP_REGION: s3.region }),
      }
    : { BACKUP_TARGET: "file:///backup" };
  if (component.vault === "restore") {
    const { deployment = metadata.name, from = "", overwrite = false } = spec.restore ?? {};
    const { writesSecret } = component;
    return {
      ...place,
      BACKUP_OF: deployment,
      BACKUP_RUN: from,
      ...(overwrite ? { RESTORE_OVERWRITE: "yes" } : {}),
      ...(writesSecret === undefined ? {} : { RESTORED_SECRET: objectName(metadata.name, writesSecret) }),
    };
  }
  const finish = {
    BACKUP_KEEP: String(spec.backup?.keep ?? 7),
    BACKUP_RELEASE: spec.release,
    BACKUP_PARTS: backupParts(context.facts.catalogue.components).join(" "),
  };
  return { ...place, BACKUP_OF: metadata.name, ...(component.name === "backup-finish" ? finish : {}) };
}

/** The port of the object store, which is outside of the deployment. */
export function vaultPort(context: Context, component: Component): number | undefined {
  const endpoint = targetOf(context, component)?.s3?.endpoint;
  if (endpoint === undefined) return undefined;
  const { port, protocol } = new URL(endpoint);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
