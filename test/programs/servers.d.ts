import type { ServerName, Target } from "../contracts/kubernetes/interface.ts";
export interface Server {
  readonly name: ServerName;
  /** A folder of the test's own; gone at close. */
  readonly dir: string;
  /** A file. */
  readonly kubeconfig: string;
  readonly target: Target;
  readonly close: () => Promise<void>;
}
/** Which servers there are, or why one is missing. */
export declare function servers(): readonly {
  name: ServerName;
  missing?: string;
}[];
export declare function startServer(name: ServerName): Promise<Server>;
/** A kubeconfig, in JSON, of someone in system:masters. */
export declare function administrator({ url, ca, authority }: Target): Promise<string>;
/** A kubeconfig, in JSON, with one context. */
export declare function kubeconfigOf(
  {
    url,
    ca,
  }: {
    url: string;
    ca: string;
  },
  user: Record<string, string>,
): string;
