import type { KeyPair } from "@causeway/foundation";

/** What the supervisor knows of a logical cluster of a worker. */
export interface ClusterInfo {
  readonly name: string;
  readonly url: string;
  readonly port: number | undefined;
  readonly authority: KeyPair;
  /** PEM: whom clients trust at `url`. */
  readonly servingAuthority: string;
}
