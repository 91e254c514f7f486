import type { Identified, Kernel } from "../kernel/interface.ts";

/** A row of volumes or shares. */
interface Holder extends Identified {
  readonly content?: string;
  /** Of volumes. */
  readonly attachments?: readonly { readonly server_id: string }[];
}

const tables = (kernel: Kernel) => [kernel.table<Holder>("volume"), kernel.table<Holder>("share")];

/** The content that represents the bytes of a volume or share. Undefined: it is not there. */
export function readContent(kernel: Kernel, id: string): string | undefined {
  const found = tables(kernel).find((table) => table.get(id));
  return found && (found.get(id)?.content ?? "");
}

/** As a server writes to its disk, or a client to a share. False: the server does not have the volume. */
export function writeContent(
  kernel: Kernel,
  id: string,
  { content, serverId }: { readonly content: string; readonly serverId?: string },
): boolean {
  const table = tables(kernel).find((each) => each.get(id));
  const { attachments } = table?.get(id) ?? {};
  if (!table || attachments?.every(({ server_id }) => server_id !== serverId)) return false;
  table.update(id, { content });
  return true;
}
