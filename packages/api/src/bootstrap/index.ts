export {
  KubeadmConfig,
  KubeadmConfigTemplate,
  type KubeadmConfigSpec,
  type KubeadmConfigStatus,
  type KubeadmConfigTemplateSpec,
} from "./kubeadm-config.ts";
