import { CausewayError, messageOf } from "@causeway/foundation";
import { loadKubeconfig, type ClusterConfig, type ObjectKey, type Secret } from "@causeway/kubernetes";
import { argoLabels, clusterNameOf, clusterSecretName } from "./names.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/**
 * The Secret from which Argo CD knows a cluster (argoproj.github.io, "Declarative setup", Clusters), with the
 * credentials of the cluster's kubeconfig.
 *
 * @throws ADDON_ARGO_CD_KUBECONFIG
 */
export function clusterSecretFor(cluster: ObjectKey, namespace: string, kubeconfig: string): Secret {
  const config = read(cluster, kubeconfig);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace,
      name: clusterSecretName(cluster),
      labels: {
        [argoLabels.secretType]: "cluster",
        [argoLabels.clusterNamespace]: cluster.namespace,
        [argoLabels.cluster]: cluster.name,
      },
    },
    type: "Opaque",
    data: {
      name: base64(clusterNameOf(cluster)),
      server: base64(config.server),
      config: base64(JSON.stringify(connection(config))),
    },
  };
}

function connection({ ca, certificate, key, token, tlsServerName, insecureSkipTlsVerify = false }: ClusterConfig) {
  return {
    ...(token === undefined ? {} : { bearerToken: token }),
    tlsClientConfig: {
      insecure: insecureSkipTlsVerify,
      ...(tlsServerName === undefined ? {} : { serverName: tlsServerName }),
      // Argo CD refuses an authority next to a server that it does not verify.
      ...(ca === undefined || insecureSkipTlsVerify ? {} : { caData: base64(ca) }),
      ...(certificate === undefined || key === undefined
        ? {}
        : { certData: base64(certificate), keyData: base64(key) }),
    },
  };
}

function read({ namespace, name }: ObjectKey, text: string): ClusterConfig {
  let config: ClusterConfig;
  try {
    config = loadKubeconfig({ text, selfContained: true });
  } catch (error) {
    throw refused(`the kubeconfig of Cluster ${namespace}/${name} cannot be read: ${messageOf(error)}`);
  }
  if (config.exec !== undefined)
    throw refused(`the kubeconfig of Cluster ${namespace}/${name} runs a program for its credentials`);
  return config;
}

function refused(why: string): CausewayError {
  return new CausewayError("ADDON_ARGO_CD_KUBECONFIG", why, {
    hint: "Argo CD needs a kubeconfig with a certificate or a token in it.",
  });
}
