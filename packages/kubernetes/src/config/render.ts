import { base64 } from "@causeway/foundation";
import { stringify } from "yaml";

/** The server, authority and credentials of a kubeconfig. */
export interface RenderKubeconfigOptions {
  readonly server: string;
  /** The name in the server's certificate, where it is not that of `server`. */
  readonly tlsServerName?: string;
  /** PEM. */
  readonly ca?: string;
  /** PEM, with `key`. */
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
  readonly clusterName: string;
  readonly userName: string;
  readonly namespace?: string;
}

/** A kubeconfig with one context, `user@cluster`, as kubeadm names it. It holds secrets: write it with mode 0600. */
export function renderKubeconfig(options: RenderKubeconfigOptions): string {
  const { clusterName, userName, namespace } = options;
  const context = `${userName}@${clusterName}`;
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: clusterName,
          cluster: {
            server: options.server,
            ...(options.tlsServerName === undefined ? {} : { "tls-server-name": options.tlsServerName }),
            ...(options.ca === undefined ? {} : { "certificate-authority-data": base64(options.ca) }),
          },
        },
      ],
      users: [
        {
          name: userName,
          user: {
            ...(options.certificate === undefined ? {} : { "client-certificate-data": base64(options.certificate) }),
            ...(options.key === undefined ? {} : { "client-key-data": base64(options.key) }),
            ...(options.token === undefined ? {} : { token: options.token }),
          },
        },
      ],
      contexts: [
        {
          name: context,
          context: { cluster: clusterName, user: userName, ...(namespace === undefined ? {} : { namespace }) },
        },
      ],
      "current-context": context,
    },
    { lineWidth: 0, version: "1.1" },
  );
}
