import type { Json } from "./interface.ts";
/** An OpenID provider of the suite's own, on loopback. */
export interface Issuer {
  /** What both servers are told of it: an AuthenticationConfiguration. */
  readonly configuration: Json;
  /** A token with these claims, which win over the usual ones; `rotated` signs with a key that is published only then. */
  readonly token: (
    claims: Json,
    options?: {
      readonly rotated?: boolean;
      readonly foreign?: boolean;
    },
  ) => string;
  readonly close: () => Promise<void>;
}
/** What a token says: its header, or its claims. */
export declare function partOf(token: string, part: "header" | "claims"): Json;
export declare function startIssuer(): Promise<Issuer>;
