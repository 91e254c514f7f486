import type { Suite } from "../suite.ts";

/** What there is of everything, and who has it. */
export const suites: readonly Suite[] = [
  {
    name: "placement",
    lines: `
      admin: provider= resource provider create {p}-provider
      admin: resource provider show {provider}
      admin: resource provider list --name {p}-provider
      admin: resource provider create {p}-provider
      admin: child= resource provider create {p}-child --parent-provider {provider}
      admin: resource provider list --in-tree {provider}
      admin: resource provider set {child} --name {p}-kid --parent-provider {provider}
      admin: resource provider show {child}
      admin: resource provider create {p}-bad --parent-provider 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      resource provider list
      resource provider create {p}-bad
      admin: resource class list
      admin: resource class create CUSTOM_{P}
      admin: resource class show CUSTOM_{P}
      admin: resource class create CUSTOM_{P}
      admin: resource class set CUSTOM_{P}
      admin: resource class create client
      admin: all resource class show VCPU
      admin: resource class show CUSTOM_NOTHING
      admin: resource class delete VCPU
      admin: resource provider inventory set {provider} --resource VCPU=8 --resource VCPU:allocation_ratio=2.0 --resource CUSTOM_{P}=4 --resource CUSTOM_{P}:max_unit=2
      admin: all resource provider inventory list {provider}
      admin: resource provider inventory show {provider} VCPU
      admin: resource provider inventory show {provider} DISK_GB
      admin: resource provider inventory class set {provider} VCPU --total 16 --reserved 1
      admin: resource provider inventory class set {provider} CUSTOM_NOTHING --total 16
      admin: resource provider inventory set {provider} --resource VCPU=0
      admin: resource provider inventory set {provider} --resource VCPU=8 --resource CUSTOM_{P}=4 --amend
      admin: trait create CUSTOM_{P}_TRAIT
      admin: trait create client
      admin: trait show CUSTOM_{P}_TRAIT
      admin: trait list --name in:CUSTOM_{P}_TRAIT,HW_CPU_X86_AVX
      admin: resource provider trait set {provider} --trait CUSTOM_{P}_TRAIT --trait HW_CPU_X86_AVX
      admin: all resource provider trait list {provider}
      admin: resource provider trait set {provider} --trait CUSTOM_NOTHING
      admin: trait delete CUSTOM_{P}_TRAIT
      admin: trait delete HW_CPU_X86_AVX
      admin: resource provider aggregate set {provider} --generation 4 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      admin: all resource provider aggregate list {provider}
      admin: resource provider aggregate set {provider} 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      admin: resource provider list --member-of 3c1d6b22-8a4c-4d5a-9f0b-111111111111
      admin: all allocation candidate list --resource CUSTOM_{P}=1
      admin: all allocation candidate list --resource CUSTOM_{P}=3
      admin: allocation candidate list --resource CUSTOM_NOTHING=1
      admin: allocation candidate list --resource VCPU=1 --required CUSTOM_{P}_TRAIT
      admin: all resource provider allocation set 5f4c9a68-0d7c-4c06-8f6d-222222222222 --allocation rp={provider},VCPU=2 --allocation rp={provider},CUSTOM_{P}=1 --project-id demo --user-id demo --consumer-type INSTANCE
      admin: all resource provider allocation show 5f4c9a68-0d7c-4c06-8f6d-222222222222
      admin: all resource provider usage show {provider}
      admin: all resource usage show demo
      admin: all resource usage show demo --user-id demo
      admin: resource provider show {provider} --allocations
      admin: resource provider allocation set 5f4c9a68-0d7c-4c06-8f6d-222222222222 --allocation rp={provider},CUSTOM_{P}=3 --project-id demo --user-id demo --consumer-type INSTANCE
      admin: resource provider allocation set 5f4c9a68-0d7c-4c06-8f6d-222222222222 --allocation rp={provider},DISK_GB=3 --project-id demo --user-id demo --consumer-type INSTANCE
      admin: all resource provider allocation unset 5f4c9a68-0d7c-4c06-8f6d-222222222222 --resource-class CUSTOM_{P}
      admin: resource provider inventory delete {provider} --resource-class VCPU
      admin: resource provider delete {provider}
      admin: resource provider allocation delete 5f4c9a68-0d7c-4c06-8f6d-222222222222
      admin: resource provider allocation delete 5f4c9a68-0d7c-4c06-8f6d-222222222222
      admin: resource provider delete {provider}
      admin: resource provider delete {child}
      admin: resource provider trait delete {provider}
      admin: resource provider inventory delete {provider}
      admin: resource provider delete {provider}
      admin: resource provider show {provider}
      admin: trait delete CUSTOM_{P}_TRAIT
      admin: trait delete CUSTOM_{P}_TRAIT
      admin: resource class delete CUSTOM_{P}
      admin: resource class delete CUSTOM_{P}
    `,
  },
];
