import { fitsUnixSocket, InputError } from "@causeway/foundation";

/** The path in "unix:///run/kms.sock" or "/run/kms.sock". @throws KMS_ENDPOINT_INVALID */
export function socketPath(endpoint: string): string {
  const path = /^(?:unix:(?:\/\/)?)?(\/[^/].*)$/i.exec(endpoint)?.[1];
  if (path !== undefined && fitsUnixSocket(path)) return path;
  throw new InputError("KMS_ENDPOINT_INVALID", `"${endpoint}" is not the endpoint of a KMS plugin.`, {
    hint: "Use unix:///path/to/kms.sock, with a path of at most 107 bytes.",
  });
}
