"""The default risk rules: the specification's surfaces and weights, at word borders, for many ecosystems, with size.

Data only; `classify` reads it. A word also matches its plural with s; "api key" means two adjacent words in one part.
A name, ending or folder must match completely. "/vendor" is a folder at the top. "env" of a hidden file begins
`.env.local`. Increase the version if a verdict can change.
"""

from __future__ import annotations

from loopwright.reflection.rule_set import (
    ENDING,
    FIRST,
    FOLDER,
    FOLDER_LAST,
    HIDDEN,
    KIND,
    LAST,
    MIDDLE,
    NAME,
    START,
    STEM,
    WEIGHTS,
    WORD,
    Loss,
    RuleSet,
    Size,
)


def _set(text: str) -> frozenset[str]:
    """Values separated by commas, or by spaces if there is no comma."""
    return frozenset(part.strip() for part in text.split(",")) if "," in text else frozenset(text.split())


# Code stays code inside a docs folder. A last word `test` means a test only for code.
CODE = _set(
    "py pyi pyx ipynb js mjs cjs jsx ts mts cts tsx vue svelte astro go rs c h cc cpp cxx hh hpp hxx m mm swift kt"
    " kts"
    " java scala sc groovy gradle clj cljs cljc cs fs fsx vb rb rake php pl pm t lua r jl ex exs erl hrl hs ml mli"
    " dart"
    " sh bash zsh fish ksh ps1 psm1 bat cmd awk sql tf hcl nix zig nim cr d pas asm s wat sol move cairo proto thrift"
    " coffee elm purs rkt scm lisp el tcl vhdl v sv cu cl glsl hlsl wgsl bzl"
)
# Code that decides who may do what is named after the decision: `requireRole`, `ensure_owner`, `OnlyAdmin`.
_RIGHTS = frozenset(
    f"{verb} {right}"
    for verbs, rights in (
        (
            "require requires ensure enforce only must",
            "role scope owner ownership admin superuser access tenant member",
        ),
        ("has is check", "role owner admin superuser access"),
    )
    for verb in verbs.split()
    for right in rights.split()
)
_AUTH = {
    WORD: _RIGHTS
    | _set(
        "auth oauth authn authz authenticate authenticated authenticating authenticatable authentication authenticator"
        " authorize authorise authorizable"
        " authorized"
        " authorised authorization authorisation authorizer unauthorized unauthenticated login logout logon logoff"
        " signin signout signup sso saml oidc openid ldap kerberos keycloak okta cognito devise mfa totp hotp"
        " webauthn passkey session"
        " token permission rbac abac acl credential cred creds secret jwt jws jwe jwk jwks csrf xsrf cors password"
        " passwd passphrase passcode crypto cryptography cryptographic encrypt encrypted encryption encryptor decrypt"
        " decryption cipher keystore truststore keychain keyring keyvault apikey certificate cert x509 tls ssl pki"
        " hsm"
        " kms security privilege impersonate impersonation sudo sudoers iam vault entitlement userauth httpauth"
        " basicauth authtoken apitoken accesstoken usertoken usersession websession .env pwd sops casbin omniauth"
        " guardian identity identityserver doorkeeper crypter ownable hba"
        " passport 2fa u2f fido fido2 pam otp keytab krb5 spiffe oauth2 scim shiro authelia kratos sanctum"
        # Libraries for logins and access
        " fortify pundit cancancan rodauth ueberauth nextauth supertokens pac4j zitadel casdoor authentik allauth"
        " djoser simplejwt openfga spicedb cerbos permify authlogic rolify"
        # Cryptography, and the hardware that holds keys
        " aead hmac hkdf kdf pbkdf2 bcrypt scrypt argon2 chacha20 poly1305 ed25519 x25519 curve25519 secp256k1 ecdsa"
        " ecdh keypair handshake bearer mtls attestation efuse tpm2 trustzone secureboot wireguard openvpn ipsec"
        # Who may connect
        " allowlist denylist blocklist whitelist blacklist iptables nftables fail2ban firewall captcha"
        # Password, login, authentication, session, permission and role in other languages.
        " passwort kennwort anmeldung benutzeranmeldung berechtigung zugriff zugang sitzung schluessel geheimnis"
        " motdepasse connexion authentification autorisation autenticacion contrasena sesion permiso credencial"
        " senha autenticacao sessao permissao wachtwoord autenticazione accesso haslo uwierzytelnianie"
    )
    | _set(
        "sign in, sign out, sign up, log out, api key, access key, private key, public key, signing key,"
        " de passe, access control, access policy, second factor, two factor, ir rule, inicio sesion, role binding,"
        " service account, api token, jwks uri, details service, claims principal, secure boot, image verify,"
        " verify image, signature verify, verify signature, signature verifier, signature verification, rack attack,"
        " realm export, bucket policy, trust policy, cluster role, network policy, role check, role guard,"
        " access check, filter chain, allowed signers"
    ),
    START: _set("auth login session token password secret permission credential"),
    NAME: _set(
        ".envrc id_rsa id_dsa id_ecdsa id_ed25519 authorized_keys known_hosts ssh_config sshd_config .netrc _netrc"
        " .pgpass .htpasswd .htaccess .git-credentials .pypirc .dockercfg .s3cfg .boto krb5.conf wp-config.php"
        " google-services.json"
        " googleservice-info.plist service-account.json ability.rb firestore.rules storage.rules database.rules.json"
        " http/kernel.php assetlinks.json apple-app-site-association crossdomain.xml"
    ),
    ENDING: _set(
        "env pem key crt cer der csr p8 p12 pfx jks bks keytab kdb kdbx ppk asc gpg pgp mobileprovision"
        " provisionprofile ovpn rego"
    ),
    MIDDLE: _set("guard"),
    FOLDER: _set(".ssh .gnupg .aws app/policies guards pam.d sudoers.d access"),
}
# Code that moves money. A mistake in it costs as much as one in stored data. "billing" is no word for it, because
# billing products have it in every path.
_MONEY = _set("payment payout refund chargeback invoice stripe paypal braintree adyen mollie razorpay")
_DATA = {
    WORD: _set(
        "migration migrate migrator prisma schema schemata entity entities repository repositories seed seeder"
        " alembic"
        " flyway liquibase ddl backfill dao knexfile sqitch mybatis xcdatamodel xcdatamodeld"
        " dbmate datenbank abfrage"
        " drizzle typeorm sequelize mongoose sqlalchemy hibernate repo wipe anonymize anonymise gdpr"
    )
    | _MONEY
    | _set(
        "db context, db upgrader, query builder, data migration, soft delete, hard delete, data retention,"
        " index template, database backup, db backup"
    ),
    NAME: _set(
        "config/database.yml persistence.xml ormconfig.json firestore.indexes.json models.py sqlc.yaml sqlc.yml"
        " diesel.toml dbt_project.yml hibernate.cfg.xml"
    ),
    ENDING: _set(
        "sql ddl dml prisma dbml avsc proto cql hql pgsql psql plsql pks pkb edmx dacpac sqlite sqlite3 db realm"
        " xcdatamodel xcdatamodeld hbm.xml thrift fbs capnp graphqls"
    ),
    FOLDER: _set("resources/mapper resources/mappers db/changelog mappings database db persistence dal"),
    FOLDER_LAST: _set("data"),
}
_INFRA = {
    WORD: _set(
        "docker dockerfile dockerignore containerfile compose traefik deploy deployment deployer helm helmfile"
        " helmrelease k8s k3s kube kubernetes kubectl kustomize kustomization terraform terragrunt opentofu pulumi"
        " cloudformation ansible playbook saltstack istio nginx haproxy caddyfile argocd fluxcd jenkins jenkinsfile"
        " woodpecker infra serverless cdk postinst preinst postrm prerm"
        " lefthook husky tekton spinnaker buildkite concourse crossplane packer cloudbuild"
        " envoy prometheus alertmanager coredns logrotate"
    )
    | _set("azure pipelines, systemd unit, values prod, values production, values staging, cloud init, user data"),
    NAME: _set(
        "dockerfile containerfile docker-compose.yml docker-compose.yaml compose.yml compose.yaml"
        " vagrantfile tiltfile procfile crontab action.yml action.yaml netlify.toml vercel.json now.json fly.toml"
        " render.yaml railway.json railway.toml app.yaml cdk.json samconfig.toml skaffold.yaml chart.yaml"
        " wrangler.toml"
        " wrangler.json firebase.json heroku.yml serverless.ts serverless.js supervisord.conf fastfile appfile"
        " matchfile buildspec.yml appspec.yml template.yaml template.yml site.yml site.yaml azuredeploy.json"
        " entrypoint.sh docker-entrypoint.sh release.sh publish.sh rollback.sh httpd.conf uwsgi.ini gunicorn.conf.py"
        " config/puma.rb ansible.cfg hosts.ini inventory.ini"
        # The parts of a role of Ansible
        " meta/main.yml meta/main.yaml defaults/main.yml defaults/main.yaml vars/main.yml vars/main.yaml"
    ),
    ENDING: _set("tf tf.json tfvars tfstate hcl bicep tofu nomad service timer socket pp sls vcl jsonnet libsonnet j2"),
    FOLDER: _set(
        ".devcontainer .ebextensions .platform fastlane ci .docker pipelines .pipelines nixos cron.d"
        " cron.daily cron.hourly init.d systemd charts overlays internal/controller internal/controllers group_vars"
        " host_vars inventories cookbooks tasks handlers"
    ),
}
_BUILD = {
    WORD: _set(
        "tsconfig jsconfig eslint eslintrc prettierrc stylelint stylelintrc babelrc biome vite vitest webpack rollup"
        " esbuild gulpfile gruntfile pnpm pnpmfile requirements constraints makefile gnumakefile bazelrc lerna"
    ),
    NAME: _set(
        # JavaScript
        "package.json package-lock.json npm-shrinkwrap.json .npmrc .nvmrc .node-version .yarnrc .yarnrc.yml bun.lockb"
        " bunfig.toml deno.json deno.jsonc turbo.json nx.json rush.json angular.json .lintstagedrc"
        # Python
        " pyproject.toml setup.py setup.cfg noxfile.py pipfile environment.yml environment.yaml manifest.in"
        " mypy.ini ruff.toml .ruff.toml .flake8 .pylintrc hatch.toml .python-version"
        # Rust, Go
        " cargo.toml rust-toolchain rust-toolchain.toml build.rs clippy.toml rustfmt.toml go.mod go.sum go.work"
        " go.work.sum .golangci.yml .golangci.yaml .goreleaser.yml .goreleaser.yaml"
        # JVM, Android
        " pom.xml mvnw mvnw.cmd gradlew gradlew.bat gradle.properties gradle-wrapper.properties"
        " settings.xml application.yml application.yaml application.properties libs.versions.toml build.xml ivy.xml"
        " build.sc proguard-rules.pro androidmanifest.xml"
        # .NET
        " appsettings.json directory.build.props directory.build.targets directory.packages.props global.json"
        " packages.lock.json"
        " paket.dependencies paket.references"
        # Apple, Dart
        " podfile cartfile cartfile.resolved package.swift package.resolved info.plist pubspec.yaml"
        " analysis_options.yaml"
        # Ruby, PHP, Elixir, Haskell, OCaml
        " gemfile gems.rb rakefile .ruby-version .rubocop.yml .rubocop_todo.yml composer.json phpstan.neon"
        " mix.exs rebar.config stack.yaml cabal.project package.yaml dune-project"
        # C, C++, and what builds anything
        " cmakelists.txt meson.build meson_options.txt configure configure.ac configure.in conanfile.txt conanfile.py"
        " vcpkg.json makefile gnumakefile build workspace module.bazel build.bazel workspace.bazel justfile"
        " taskfile.yml taskfile.yaml earthfile sconstruct sconscript wscript flake.nix default.nix"
        " shell.nix devbox.json mise.toml .tool-versions .buckconfig .bazelversion foundry.toml deps.edn cpanfile"
        " cpanfile.snapshot cmakepresets.json kconfig sdkconfig platformio.ini west.yml memory.x buck"
        " brewfile project.clj shard.yml dub.json bower.json elm.json project.toml manifest.toml pkgbuild apkbuild"
        " debian/rules debian/control snapcraft.yaml project.godot export_presets.cfg packages/manifest.json .swcrc"
        " buf.yaml buf.gen.yaml moon.yml"
        # What renews dependencies, and what people run to install
        " renovate.json renovate.json5 .renovaterc .renovaterc.json dependabot.yml dependabot.yaml install.sh"
        " setup.sh"
        " bootstrap.sh install.ps1 sonar-project.properties codecov.yml .codecov.yml .clang-tidy"
    ),
    ENDING: _set(
        "lock gradle gradle.kts sbt cmake bzl csproj fsproj vbproj sln slnx vcxproj props targets nuspec gemspec"
        " podspec cabal opam spec mk config lockfile xcconfig xcscheme pbxproj jar war ear dll so dylib exe"
        " wasm whl nupkg m4 gyp gypi freeze nix ld lds dts dtsi defconfig build.cs target.cs uproject uplugin rockspec"
        " nimble ebuild wxs iss conf"
    ),
    MIDDLE: _set("config"),
    FOLDER: _set(
        "/vendor third_party thirdparty third-party node_modules .mvn .cargo .yarn .vscode .idea buildsrc build-logic"
    ),
    # Third-party code, and links.
    KIND: _set("submodule symlink repository"),
}
_UI = {
    ENDING: _set(
        "tsx jsx css scss sass less styl pcss vue svelte astro html htm xhtml hbs handlebars ejs pug jade mustache"
        " liquid njk twig erb haml slim blade.php cshtml vbhtml razor xaml axaml xib storyboard qml fxml jsp jspx ftl"
    ),
    MIDDLE: _set("stories"),
    FOLDER: _set("components apps/web res/layout res/drawable"),
}
_TEST = {
    # Files that run the tests, and files that only tests need.
    NAME: _set("conftest.py tox.ini pytest.ini .coveragerc phpunit.xml phpunit.xml.dist test-requirements.txt"),
    ENDING: _set("snap golden feature t"),
    MIDDLE: _set("spec specs test tests e2e cy fixture mock"),
    FOLDER: _set(
        "test tests __test__ __tests__ __mocks__ __fixtures__ __snapshots__ testdata test-data test_data testfixtures"
        " fixtures e2e cypress testutil testutils test-utils test_utils test-helpers test_helpers spec androidtest"
        " commontest jvmtest jstest iostest nativetest desktoptest sharedtest integrationtest functionaltest unittest"
        " uitest step_definitions database/factories"
    ),
    FOLDER_LAST: _set("tests"),
    FIRST: _set("test tests"),
    LAST: _set("test tests spec IT") | _set("it case, test case"),
}
_DOCS = {
    STEM: _set(
        "readme license licence copying notice changelog changes authors contributors contributing maintainers"
        " history"
        " news todo thanks credits code_of_conduct security support"
    ),
    ENDING: _set("md mdx markdown mdown rst adoc asciidoc textile rdoc"),
    FOLDER: _set(
        "docs doc documentation release-notes releasenotes release_notes changelog.d newsfragments .changeset api-ref"
        " api-guide"
    ),
}
# Files that steer people, agents and CI. Known by their path, so that no test or docs folder hides them.
_STEERING = {
    NAME: _set(
        "agents.md agents.override.md claude.md claude.local.md gemini.md codex.md skill.md copilot-instructions.md"
        " .cursorrules .cursorignore .windsurfrules .clinerules .roorules .goosehints .aider.conf.yml opencode.json"
        " .github/settings.yml .mcp.json mcp.json codeowners .gitattributes .gitmodules .gitconfig .lfsconfig"
        " .pre-commit-config.yaml"
        " .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml"
        " .huskyrc .huskyrc.json pre-commit pre-push pre-rebase pre-receive commit-msg prepare-commit-msg post-commit"
        " post-checkout post-merge post-rewrite post-receive"
        " .gitlab-ci.yml .gitlab-ci.yaml .travis.yml jenkinsfile azure-pipelines.yml azure-pipelines.yaml"
        " bitbucket-pipelines.yml .drone.yml .drone.yaml .drone.star .drone.jsonnet .woodpecker.yml .woodpecker.yaml"
        " .cirrus.yml .cirrus.star appveyor.yml .appveyor.yml codemagic.yaml bitrise.yml wercker.yml cloudbuild.yaml"
        " cloudbuild.yml .zuul.yaml zuul.yaml .build.yml .taskcluster.yml .semaphore.yml screwdriver.yaml"
    ),
    FOLDER: _set(
        ".claude .cursor .codex .gemini .windsurf .clinerules .continue .roo .kiro .junie .opencode .amazonq .augment"
        " .agents .loopwright .githooks .git-hooks .husky .lefthook"
        " .github/workflows .github/actions .github/instructions .github/prompts .github/agents .gitlab/ci"
        " .gitea/workflows .forgejo/workflows .circleci .buildkite .woodpecker .drone .teamcity .semaphore .tekton"
        " .azure-pipelines .azuredevops .builds .ci .harness zuul.d .zuul.d .concourse .dagger .jenkins"
    ),
}
# Files with secrets, by name or path. An ending alone does not win: `testdata/key.pem` belongs to a test.
_SECRETS = {
    HIDDEN: _set("env"),
    NAME: frozenset(
        f"{name}.{ending}"
        for name in ("secret", "secrets", "credential", "credentials", "password", "passwords")
        for ending in ("yml", "yaml", "json", "toml", "ini", "cfg", "conf", "properties", "env", "enc", "yml.enc")
    )
    | _set(
        "id_rsa id_dsa id_ecdsa id_ed25519 authorized_keys .envrc .netrc _netrc .pgpass .htpasswd .git-credentials"
        " .pypirc .dockercfg .s3cfg .boto service-account.json master.key"
    ),
    FOLDER: _set(".ssh .gnupg .aws"),
}

# The content of games, and sciences: here words of access and storage have their everyday meaning.
_PLAY = _set(
    "boardgame npc npcs enemy enemies quest quests prefab prefabs sprite sprites dungeon minigame monster monsters"
    " weapon weapons loot"
)
_NATURE = _set("biology chemistry physics astronomy ecology genetics geology zoology botany")
# Parts of a page show entities; they do not store them.
_PAGE = _set("component components view views widget widgets")
# Pictures, sounds, fonts, scenes, style sheets and slides decide nothing, whatever their names say.
_INERT = _set(
    "svg png jpg jpeg gif webp avif ico bmp tif tiff heic psd sketch fig mp3 wav ogg flac aac m4a mp4 mov webm avi mkv"
    " ttf otf woff woff2 eot fbx obj glb gltf blend dae stl uasset umap prefab tscn tres css scss sass less styl pcss"
    " pdf pptx odp docx odt geojson gpx kml xcassets imageset appiconset colorset"
)
# A visible part whose name ends like this only decorates: `LoginBackground.tsx`.
_DECOR = _set("icon illustration badge banner logo background wallpaper thumbnail spinner skeleton animation")

DEFAULT = RuleSet(
    name="default",
    version=5,
    weights=WEIGHTS,
    surfaces={
        "auth": _AUTH,
        "data": _DATA,
        "infra": _INFRA,
        "build": _BUILD,
        "ui": _UI,
        "test": _TEST,
        "docs": _DOCS,
    },
    winning={"auth": _SECRETS, "infra": _STEERING},
    # Values that count only for files with these endings.
    limits={
        (WORD, "compose"): _set("yml yaml"),  # not Jetpack Compose or function composition
        (WORD, "requirements"): _set("txt in"),
        (WORD, "constraints"): _set("txt"),
        (WORD, "serverless"): _set("yml yaml json toml"),
        (WORD, "filter chain"): _set("java kt scala"),
        (WORD, "details service"): _set("java kt scala"),
        (WORD, "fortify"): _set("php"),
        (WORD, "pundit"): _set("rb"),
        (WORD, "hibernate"): _set("java kt xml properties"),
        (WORD, "drizzle"): _set("ts js mjs"),
        (WORD, "mongoose"): _set("ts js mjs"),
        (WORD, "envoy"): _set("yml yaml json"),
        (WORD, "prometheus"): _set("yml yaml json"),
        (WORD, "network policy"): _set("yml yaml json"),
        (WORD, "image verify"): _set("c h cc cpp rs go s"),
        (WORD, "verify image"): _set("c h cc cpp rs go s"),
        (WORD, "user data"): _set("sh yml yaml tpl ps1"),
        (WORD, "bearer"): CODE,
        (WORD, "handshake"): CODE,
        (WORD, "repo"): _set("php ex exs kt cs scala"),
        (WORD, "wipe"): CODE,
        (WORD, "gdpr"): CODE,
        **{(WORD, word): CODE for word in sorted(_MONEY)},
        (FOLDER, "access"): CODE,
        (FOLDER, "database"): CODE,
        (FOLDER, "db"): CODE,
        (FOLDER, "persistence"): CODE,
        (FOLDER, "dal"): CODE,
        (FOLDER_LAST, "data"): _set("cs fs vb"),  # a project of .NET such as `Shop.Data`
        (FOLDER, "tasks"): _set("yml yaml"),
        (FOLDER, "handlers"): _set("yml yaml"),
        (FOLDER, "charts"): _set("yml yaml tpl"),
        (FOLDER, "overlays"): _set("yml yaml"),
        (FOLDER, "internal/controller"): _set("go"),
        (FOLDER, "internal/controllers"): _set("go"),
        (FOLDER, "cookbooks"): _set("rb"),
        (FOLDER, "spec"): _set("rb erb yml js mjs cjs ts coffee lua cr php"),
        (FIRST, "test"): _set("py rb java kt groovy scala js mjs cjs c cc cpp sh bash lua pl t r jl ml"),
        (FIRST, "tests"): _set("py rs swift"),
        (LAST, "test"): CODE,
        (LAST, "tests"): CODE,
        (LAST, "spec"): _set("rb scala groovy kt hs php swift coffee cr lua js mjs cjs"),
        (LAST, "IT"): _set("java kt groovy"),
        (LAST, "it case"): _set("java scala kt"),
        (LAST, "test case"): CODE,
    },
    # Words with another meaning if one of these words is anywhere in the path, or in the same part.
    unless={
        "token": (
            _set(
                "lexer lex parser parse parsing syntax ast tokenizer tokenize grammar compiler antlr lucene nlp llm"
                " markdown"
            )
            | _PLAY,
            _set("design css scss sass less count counter usage budget stream bpe vocab special max per"),
        ),
        "session": (
            _set("spark tmux audio music recording conference speaker speakers podcast workout"),
            _set("window windows windowing schedule"),
        ),
        "migration": (_NATURE | _set("bird birds"), _set("live")),
        "secret": (_PLAY, frozenset()),
        "certificate": (_PLAY, frozenset()),
        "security": (_PLAY, frozenset()),
        "vault": (_PLAY, frozenset()),
        "permission": (_NATURE, frozenset()),
        "seed": (_set("rng prng fuzz fuzzing torrent") | _NATURE, _set("random")),
        "entity": (_PAGE, _set("html http xml dtd header")),
        "entities": (_PAGE, _set("html http xml dtd header")),
        "repo": (frozenset(), _set("git github gitlab hub clone fork mirror")),
    },
    # Suffixes of joined words: `authservice.go`, `loginform.php`.
    ends=_set(
        "service services controller client server util utils middleware provider handler manager guard store helper"
        " helpers config module router routes api page form view model context state"
    ),
    code=CODE,
    inert=_INERT,
    decoration=_DECOR,
    # Holds 0.5 % more of 13,251 real commits (docs/risk.md).
    loss=Loss(
        share=0.5,
        lines=20,
        score=0.6,
        by_tools=_set("generated autogenerated gen min bundle dist pb pb2 designer mocks"),
    ),
    # Chosen with public data (docs/risk.md). Tests and docs add almost nothing to the size of the code they come with,
    # so that writing them does not cause a review.
    size=Size(
        half=100.0,
        bend=25.0,
        removed=0.2,
        removed_alone=0.4,
        shares={"test": 0.5, "docs": 0.25},
        meeting={
            "auth": 0.5,
            "data": 0.5,
            "infra": 0.5,
            "build": 0.5,
            "ui": 0.5,
            "test": 0.05,
            "docs": 0.05,
            "none": 0.0,
        },
    ),
)
