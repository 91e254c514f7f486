import { InputError } from "@causeway/foundation";

/** What shares are exported as. One process serves one of them (--share-protocol-selector). */
export type ShareProtocol = "NFS" | "CEPHFS";

/** Of a flag or a share, in any case of letters. */
export function protocolOf(text: string): ShareProtocol | undefined {
  const upper = text.toUpperCase();
  return upper === "NFS" || upper === "CEPHFS" ? upper : undefined;
}

/** @throws MANILA_CSI_FLAG_INVALID */
export function requireProtocol(text: string): ShareProtocol {
  const protocol = protocolOf(text);
  if (protocol !== undefined) return protocol;
  throw new InputError("MANILA_CSI_FLAG_INVALID", `The share protocol "${text}" is not supported.`, {
    hint: "Set --share-protocol-selector to NFS or CEPHFS.",
  });
}
