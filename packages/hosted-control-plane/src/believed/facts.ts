import type { TokenIssuers } from "../runtime.ts";

/** What API servers made of the issuers of a control plane. */
export type IssuerFacts =
  /** All of them believe these. */
  | { readonly type: "accepted"; readonly jwt: TokenIssuers }
  /** Not all have read them. */
  | { readonly type: "pending"; readonly jwt: TokenIssuers }
  /** One of them refuses these: the URLs of those that it names, none where that is not known. */
  | { readonly type: "refused"; readonly jwt: TokenIssuers; readonly named: readonly string[] };
