import type { Suite } from "../suite.ts";

/** Who may do what. */
export const suites: readonly Suite[] = [
  {
    name: "projects and domains",
    lines: `
      admin: project create {p}-project --description first --tag red --property a=b
      admin: project show {p}-project
      admin: project list --tags red
      admin: project list --long --tags red
      admin: project set {p}-project --name {p}-uno --description second --disable --tag blue --property c=d
      admin: project show {p}-uno
      admin: project set {p}-uno --remove-tag blue --enable
      admin: project show {p}-uno -c tags -c enabled
      admin: project create {p}-uno
      admin: project create {p}-uno --or-show
      admin: project create {p}-child --parent {p}-uno
      admin: project show {p}-child --parents
      admin: project show {p}-uno --children
      admin: project list --parent {p}-uno
      admin: project delete {p}-uno
      admin: project create {p}-bad --parent {p}-nothing
      admin: project create {p}-bad --domain {p}-nothing
      project create {p}-bad
      project show {p}-uno
      project list --my-projects
      project list
      project show demo -c name -c enabled
      alt: project show demo
      admin: project delete {p}-child {p}-uno
      admin: project delete {p}-nothing
      admin: project show {p}-nothing
      admin: domain create {p}-domain --description d
      admin: domain show {p}-domain
      admin: domain list
      admin: domain create {p}-domain
      admin: project create {p}-inside --domain {p}-domain
      admin: project show {p}-inside --domain {p}-domain
      admin: user create {p}-user --domain {p}-domain
      admin: domain delete {p}-domain
      admin: domain set {p}-domain --disable --name {p}-d2
      admin: domain show {p}-d2
      domain list
      domain show default
      domain create {p}-bad
      admin: domain delete {p}-d2
      admin: user show {p}-user --domain {p}-d2
      admin: domain delete {p}-nothing
      admin: domain show {p}-nothing
    `,
    cleanup: `
      admin: domain set {p}-domain --disable
      admin: domain delete {p}-domain
    `,
  },
  {
    name: "users, groups and roles",
    lines: `
      admin: project create {p}-project
      admin: user create {p}-user --password secret --email a@b.c --description first --project {p}-project
      admin: user show {p}-user
      admin: user list --long
      admin: user list --project {p}-project
      admin: user set {p}-user --name {p}-uno --email d@e.f --description second --disable
      admin: user show {p}-uno
      admin: user set {p}-uno --enable --ignore-password-expiry --multi-factor-auth-rule password
      admin: user show {p}-uno -c options -c enabled
      admin: user create {p}-uno
      admin: user create {p}-uno --or-show -c name
      user create {p}-bad
      user list
      user show {p}-uno
      user show demo -c name -c enabled
      admin: group create {p}-group --description g
      admin: group show {p}-group
      admin: group add user {p}-group {p}-uno
      admin: group contains user {p}-group {p}-uno
      admin: group contains user {p}-group demo
      admin: user list --group {p}-group
      admin: group list --user {p}-uno
      admin: group remove user {p}-group {p}-uno
      admin: group remove user {p}-group {p}-uno
      admin: group set {p}-group --name {p}-g2 --description h
      admin: group show {p}-g2
      admin: group create {p}-g2
      group list
      group create {p}-bad
      admin: role create {p}-role --description r
      admin: role show {p}-role
      admin: role list
      admin: role set {p}-role --name {p}-r2
      admin: role create {p}-r2
      role list
      role create {p}-bad
      admin: role add --user {p}-uno --project {p}-project {p}-r2
      admin: role add --user {p}-uno --project {p}-project {p}-r2
      admin: role add --group {p}-g2 --project {p}-project {p}-r2
      admin: role add --user {p}-uno --domain default {p}-r2
      admin: role add --user {p}-uno --system all {p}-r2
      admin: role add --user {p}-uno --project {p}-project --inherited {p}-r2
      admin: role assignment list --role {p}-r2
      admin: role assignment list --role {p}-r2 --names
      admin: role assignment list --user {p}-uno --effective --names
      admin: role assignment list --project {p}-project --names
      admin: role list --user {p}-uno --project {p}-project
      admin: role assignment list --system all --names
      role assignment list --names
      admin: role add --user {p}-uno --project {p}-project {p}-nothing
      admin: role add --user {p}-nothing --project {p}-project {p}-r2
      role add --user {p}-uno --project {p}-project {p}-r2
      admin: role remove --user {p}-uno --project {p}-project {p}-r2
      admin: role remove --user {p}-uno --project {p}-project {p}-r2
      admin: role remove --group {p}-g2 --project {p}-project {p}-r2
      admin: role remove --user {p}-uno --system all {p}-r2
      admin: implied role create {p}-r2 --implied-role reader
      admin: implied role create {p}-r2 --implied-role reader
      admin: implied role list
      admin: implied role delete {p}-r2 --implied-role reader
      admin: implied role delete {p}-r2 --implied-role reader
      admin: role delete {p}-r2
      admin: role delete {p}-nothing
      admin: role show {p}-nothing
      admin: group delete {p}-g2
      admin: group delete {p}-nothing
      admin: group show {p}-nothing
      admin: user delete {p}-uno
      admin: user delete {p}-nothing
      admin: user show {p}-nothing
      admin: project delete {p}-project
    `,
    cleanup: `
      admin: role delete {p}-role
      admin: group delete {p}-group
      admin: user delete {p}-user
    `,
  },
  {
    name: "credentials and trusts",
    lines: `
      credential= application credential create {p}-credential --secret hidden --description first --role member --expiration 2040-01-01T00:00:00
      application credential show {p}-credential
      application credential list
      application credential create {p}-credential
      application credential create {p}-bad --role admin
      application credential create {p}-bad --role {p}-nothing
      application credential create {p}-bad --expiration 2001-01-01T00:00:00
      application credential create {p}-bad --expiration nonsense
      application credential create {p}-rules --secret hidden --access-rules '[{"service":"compute","method":"GET","path":"/v2.1/servers"}]'
      application credential show {p}-rules -c unrestricted -c name
      access rule list
      access rule show nonsense
      access rule delete nonsense
      alt: application credential show {credential}
      application credential delete {p}-credential
      application credential delete {p}-rules
      application credential delete {p}-nothing
      application credential show {p}-nothing
      trust= trust create --project demo --role member demo alt
      trust show {trust}
      trust list
      alt: trust show {trust}
      reader: trust show {trust}
      alt: trust delete {trust}
      trust create --project demo --role admin demo alt
      trust create --project demo --role {p}-nothing demo alt
      trust create --project demo --role member --impersonate --expiration 2001-01-01T00:00:00 demo alt
      trust delete {trust}
      trust delete {trust}
      trust show {trust}
      ec2 credentials show nonsense
      ec2 credentials delete nonsense
      token revoke nonsense
    `,
  },
  {
    name: "the catalog and what is served",
    lines: `
      of(barbican|cinderv3|glance|keystone|manilav2|neutron|nova|octavia|placement) catalog list -c Name -c Type
      catalog show compute
      catalog show nothing
      service list -c Name -c Type
      admin: of(barbican|cinderv3|glance|keystone|manilav2|neutron|nova|octavia|placement) service list -c Name -c Type
      admin: service create --name {p}-service --description s {p}-type
      admin: service show {p}-service
      admin: service set {p}-service --name {p}-s2 --disable
      admin: service show {p}-s2
      service create {p}-bad
      admin: region create {p}-region --description r
      admin: region show {p}-region
      admin: region create {p}-region
      admin: region set {p}-region --description s
      admin: region list
      admin: region create {p}-inner --parent-region {p}-region
      admin: region list --parent-region {p}-region
      admin: region create {p}-bad --parent-region {p}-nothing
      admin: endpoint= endpoint create {p}-s2 public http://example.com/v1 --region {p}-region
      admin: endpoint create {p}-s2 public http://example.com/v1 --region {p}-region
      admin: endpoint list --service {p}-s2
      admin: endpoint create {p}-s2 nonsense http://example.com/v1
      admin: endpoint create {p}-nothing public http://example.com/v1
      admin: endpoint create {p}-s2 public http://example.com/v1 --region {p}-nothing
      endpoint list
      endpoint create {p}-s2 public http://example.com/v1
      admin: region delete {p}-region
      admin: service delete {p}-s2
      admin: endpoint list --region {p}-region
      admin: region delete {p}-inner
      admin: region delete {p}-region
      admin: region delete {p}-nothing
      admin: service delete {p}-nothing
      admin: service show {p}-nothing
      admin: endpoint show nonsense
      admin: endpoint delete nonsense
      admin: service create --name {p}-limited {p}-limited
      admin: limited= registered limit create --service {p}-limited --default-limit 10 {p}-things
      admin: registered limit show {limited}
      admin: registered limit list --service {p}-limited
      admin: registered limit set {limited} --default-limit 20 --description l
      admin: registered limit create --service {p}-limited --default-limit 10 {p}-things
      admin: limit= limit create --project demo --service {p}-limited --resource-limit 5 {p}-things
      admin: limit show {limit}
      admin: limit list --service {p}-limited
      admin: limit set {limit} --resource-limit 6
      admin: limit create --project demo --service {p}-limited --resource-limit 5 {p}-other
      registered limit create --service {p}-limited --default-limit 10 {p}-more
      admin: registered limit delete {limited}
      admin: limit delete {limit}
      admin: limit show {limit}
      admin: registered limit delete {limited}
      admin: service delete {p}-limited
      admin: policy list
      admin: consumer list
      all versions show --service identity
      all configuration show -c region_name
    `,
    cleanup: `
      admin: region delete {p}-region
      admin: service delete {p}-service
    `,
  },
];
