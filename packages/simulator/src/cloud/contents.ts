import type { Kernel } from "../kernel/interface.ts";
import type { Share } from "../shares/model.ts";
import type { Volume } from "../storage/model.ts";

/** What stands for the bytes of a volume or share. Undefined: it is not there. */
export function readContent(kernel: Kernel, id: string): string | undefined {
  const found = kernel.table<Volume>("volume").get(id) ?? kernel.table<Share>("share").get(id);
  return found && (found.content ?? "");
}

/** As a server writes to its disk, or a client to a share. False: the server does not have the volume. */
export function writeContent(
  kernel: Kernel,
  id: string,
  write: { readonly content: string; readonly serverId?: string },
) {
  const { content, serverId } = write;
  const volumes = kernel.table<Volume>("volume");
  const volume = volumes.get(id);
  if (volume) {
    const isAttached = volume.attachments.some(({ server_id }) => server_id === serverId);
    if (isAttached) volumes.update(id, { content });
    return isAttached;
  }
  const shares = kernel.table<Share>("share");
  if (shares.get(id) === undefined) return false;
  shares.update(id, { content });
  return true;
}
