/** What is known of the agents of a control plane's tunnel. Times are milliseconds since epoch. */
export type TunnelFacts =
  | { readonly type: "connected" }
  /**
   * No agent is connected: since when, by the server, and since when every check found that. `hadAgents`: this process
   * has seen one connected.
   */
  | { readonly type: "absent"; readonly since: number; readonly seenSince: number; readonly hadAgents: boolean }
  /**
   * The server does not respond, with a code such as ECONNREFUSED. `reached`: this process knows that it could reach
   * it; otherwise API servers may reach it, and only this process not.
   */
  | {
      readonly type: "unreachable";
      readonly code: string;
      readonly reached: boolean;
      readonly seenSince: number;
      readonly hadAgents: boolean;
    }
  /** Its API servers use no tunnel, or one whose server does not report its agents. */
  | { readonly type: "none" };
