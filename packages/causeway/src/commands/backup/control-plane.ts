import { HostedControlPlane } from "@causeway/api";
import { InputError, systemClock } from "@causeway/foundation";
import { backupRequestAnnotation } from "@causeway/hosted-control-plane";
import { withManagement } from "../../clusters/place.ts";
import { waitUntil } from "../../clusters/wait.ts";
import type { BackupControlPlaneOptions } from "./command.ts";
import { findControlPlane } from "../../clusters/find-control-plane.ts";
import { backupProgress, requestBackup, type BackupProgress } from "./plan-backup.ts";
import { objectKeyOf } from "../../options/object-key.ts";
import { documentOf } from "../../terminal/documents.ts";
import { ownName } from "../../terminal/own-name.ts";

/**
 * Requests a backup of all data, and waits until there is one.
 * @throws CONTROL_PLANE_NOT_FOUND, BACKUP_NOT_POSSIBLE, BACKUP_TIMEOUT
 */
export async function backupControlPlane(
  given: string,
  options: BackupControlPlaneOptions,
  signal: AbortSignal,
): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const object = await findControlPlane(client, objectKeyOf(given, namespace), signal);
    const key = { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
    const shown = `${key.namespace}/${key.name}`;
    const request = requestBackup(object, systemClock.now());
    if ("refusal" in request)
      throw new InputError("BACKUP_NOT_POSSIBLE", `control plane ${shown} cannot be backed up: ${request.refusal}`, {
        hint: request.hint,
      });
    const { at } = request;
    const body = { metadata: { annotations: { [backupRequestAnnotation]: at } } };
    await client.patch(HostedControlPlane, key, { type: "merge", body }, { signal });
    const say = (line: string): void => {
      if (options.output === "table") process.stdout.write(`control plane ${shown}: ${line}\n`);
    };
    say(`backup of ${at} or later requested`);
    const result = options.wait ? await taken() : undefined;
    if (options.output === "table") {
      if (result) say(`all data backed up at ${result.time}`);
      if (result) process.stdout.write(`restore it: ${ownName()} restore control-plane NEW-NAME --from ${shown}\n`);
      return;
    }
    process.stdout.write(documentOf({ ...key, requested: at, ...result }, options.output) ?? "");

    async function taken(): Promise<Extract<BackupProgress, { time: string }> | undefined> {
      let [last, done]: [string, Extract<BackupProgress, { time: string }> | undefined] = ["", undefined];
      const check = async (): Promise<string | undefined> => {
        const progress = backupProgress(await client.get(HostedControlPlane, key, { signal }), at);
        if ("time" in progress) return void (done = progress);
        if (progress.missing !== last) say((last = progress.missing));
        return progress.missing;
      };
      await waitUntil(check, { ...key, timeout: options.timeout, signal, code: "BACKUP_TIMEOUT" });
      return done;
    }
  });
}
