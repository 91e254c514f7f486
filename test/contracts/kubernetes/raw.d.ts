import type { Raw } from "./interface.ts";
export interface Connection {
  readonly url: string;
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}
/** Bare HTTPS to one server as one identity. */
export declare function rawClient({ url, ca, certificate, key, token }: Connection): Raw;
