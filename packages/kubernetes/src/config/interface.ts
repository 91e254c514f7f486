/** A command that prints credentials (client.authentication.k8s.io ExecCredential). */
export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
}

/** Everything needed to reach one API server as one identity. Certificates and keys are PEM. */
export interface ClusterConfig {
  /** Base URL, with a path if the cluster is below one. */
  readonly server: string;
  readonly ca?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
  /** Read again as it is rotated. Wins over `token` once it can be read. */
  readonly tokenFile?: string;
  readonly exec?: ExecConfig;
  /** The context's namespace. */
  readonly namespace?: string;
}
