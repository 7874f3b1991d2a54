"""Every rule of both sets with paths that it must hit and paths that it must leave alone."""

from __future__ import annotations

import pytest

from loopwright.reflection.classify import Classifier
from loopwright.reflection.default_rules import DEFAULT
from loopwright.reflection.rule_set import (
    ENDING,
    FIRST,
    FOLDER,
    FOLDER_LAST,
    FRAGMENT,
    HIDDEN,
    KIND,
    LAST,
    MIDDLE,
    NAME,
    START,
    STEM,
    SURFACES,
    WEIGHTS,
    WORD,
)
from loopwright.reflection.rule_sets import CLASSIC

HITS = {
    "auth": """
        src/authService.ts src/auth_service.py AuthService.java src/auth/index.ts src\\Auth\\Login.cs lib/oauth2.rb
        pkg/authservice/main.go web/loginform.php UserSession.kt sessions/new.rb refresh_token.ts ApiTokens.swift
        permission.go rbac.yaml credentials.json app/secrets.rs JWTs.ts jwt.py password_reset.py acl.c ACLs.java
        crypto/aes.go
        signIn.tsx sign_in.rb api-key.ts x509.go tls.rs cors.js csrf.py SecurityConfig.java iam/policy.json
        .env .env.local .env.example .envrc deploy/prod.env server.pem keys/private.key release.jks cert.p12 id_rsa
        .ssh/config .npm/.netrc .htpasswd ios/App.entitlements wp-config.php google-services.json keyring.gpg
        docs/.env docs/.env.example tests/.env.test test/fixtures/.env-ci .env_prod doc/.envrc docs/secrets.yml
        docs/guide/credentials.json tests/secrets.toml config/secrets.yml.enc docs/.ssh/config tests/id_ed25519
        fixtures/.netrc docs/.aws/config docs/server.pem spec/master.key
        src/components/LoginForm.tsx app/models/user_credential.rb vault.tf src/lib/encryption.ts
        api/has_role.go lib/plugs/ensure_owner.ex Filters/RequireScopeAttribute.cs BearerFilter.java crates/aead.rs
        pkg/noise/handshake.go app/Http/Kernel.php config/WebFluxFilterChainConfig.java boot/image_verify.c hmac.py
        src/LoginButton.tsx src/BackgroundLogin.tsx app/Access/SocialController.php concerns/authenticatable.rb
        """,
    "data": """
        db/migrate/001_x.rb migrations/0001_initial.py app/schema.graphql schema.rb query.sql prisma/schema.prisma
        UserEntity.java user.entity.ts UserRepository.cs repositories/x.php seeds.rb DatabaseSeeder.php alembic/env.py
        src/main/resources/db/changelog/liquibase.xml events.avsc api.proto ApplicationDbContext.cs UserDao.java
        Model.xcdatamodeld config/database.yml prod.sqlite3 docs/schema.sql Migrations/20240101_Init.cs
        shop/orders/models.py hooks/soft_delete.go Order.hbm.xml internal/database/wiki.go src/db/pool.rs
        Shop.Data/Builders/OrderBuilder.cs UserRepo.php pay/RefundService.java stripe_webhook.py lib/tasks/wipe.rake
        """,
    "infra": """
        Dockerfile Dockerfile.dev api.dockerfile docs/Dockerfile docker-compose.yml docker-compose.dev.yaml compose.yaml
        docker/entrypoint.sh .dockerignore traefik.toml deploy.sh scripts/deploy_prod.py DeploymentService.java
        helm/values.yaml Chart.yaml k8s/api.yaml K8sConfig.java main.tf prod.tfvars terraform/x.json nginx.conf
        ansible/site.yml playbook.yml serverless.yml fly.toml Procfile app.service Vagrantfile infra/main.ts ci/run.sh
        .github/workflows/test.yml .github/workflows/docs.yml .github/actions/x/action.yml .gitlab-ci.yml
        .circleci/config.yml .travis.yml Jenkinsfile azure-pipelines.yml azure-pipelines-pr.yml bitbucket-pipelines.yml
        .drone.yml .woodpecker.yml .woodpecker/test.yml .buildkite/pipeline.yml .cirrus.yml appveyor.yml
        .gitea/workflows/a.yml .forgejo/workflows/a.yml .teamcity/settings.kts .tekton/push.yaml .builds/alpine.yml
        cloudbuild.yaml codemagic.yaml .zuul.yaml .semaphore/semaphore.yml .devcontainer/devcontainer.json
        .claude/settings.json .claude/agents/x.md .mcp.json tests/.mcp.json CODEOWNERS .github/CODEOWNERS
        docs/CODEOWNERS
        .gitattributes src/.gitattributes .gitmodules .githooks/pre-push .husky/pre-commit hooks/pre-commit
        .pre-commit-config.yaml lefthook.yml AGENTS.md CLAUDE.md sub/AGENTS.md tests/CLAUDE.md docs/AGENTS.md GEMINI.md
        .cursorrules .cursor/rules/x.mdc .github/copilot-instructions.md .windsurfrules .github/settings.yml
        .loopwright/config.toml .codex/config.toml fastlane/Fastfile
        charts/x/templates/_helpers.tpl charts/x/values-eu.yaml site.yml template.yaml roles/web/tasks/main.yml
        roles/web/tasks/install.yml roles/web/defaults/main.yml roles/web/templates/unit.j2
        internal/controller/tenant_controller.go overlays/prod/patch.yaml manifests/web.pp
        """,
    "build": """
        package.json apps/x/package.json package-lock.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lockb
        tsconfig.json tsconfig.base.json turbo.json vite.config.ts app.config.js .eslintrc.json eslint.config.mjs
        .npmrc pyproject.toml setup.py requirements.txt requirements-dev.txt requirements/base.txt poetry.lock uv.lock
        Pipfile Cargo.toml Cargo.lock build.rs go.mod go.sum pom.xml build.gradle build.gradle.kts settings.gradle
        gradle.properties gradlew gradle/wrapper/gradle-wrapper.jar build.sbt App.csproj App.sln Directory.Build.props
        web.config packages.lock.json Gemfile Gemfile.lock my.gemspec Rakefile composer.json composer.lock mix.exs
        Makefile docs/Makefile Makefile.am rules.mk CMakeLists.txt meson.build BUILD.bazel WORKSPACE justfile flake.nix
        Podfile Podfile.lock Package.swift ios/App.xcodeproj/project.pbxproj Info.plist pubspec.yaml AndroidManifest.xml
        libs.versions.toml proguard-rules.pro renovate.json .github/dependabot.yml install.sh docs/install.sh
        docs/package.json vendor/x/y.go third_party/zlib/z.c node_modules/x/index.js lib/native.so app.wasm pkg.spec
        .vscode/tasks.json appsettings.json application.properties .golangci.yml mypy.ini
        Source/Arena/Arena.Build.cs boards/x/linker.ld overlays/openssl.nix Kconfig project.godot
        hosting/syslog.conf prj.conf moon.yml
        """,
    "ui": """
        App.tsx src/Button.jsx styles/main.css theme.scss tokens.css index.html Page.vue Page.svelte
        src/components/list.ts
        src/LoginBackground.tsx src/SecurityBadges.tsx styles/login-background.css res/SchemaIllustration.svelte
        apps/web/main.ts views/show.html.erb home.blade.php Index.cshtml MainWindow.xaml Main.storyboard
        app/src/main/res/layout/main.xml Button.stories.ts email.hbs
        """,
    "test": """
        tests/test_auth.py test/login_test.rb src/test/java/AuthServiceTest.java src/auth/auth.spec.ts auth.test.js
        __tests__/session.js auth_test.go AuthServiceTests.cs MyApp.Tests/AuthTests.cs AppUITests/LoginTests.swift
        src/androidTest/java/Login.kt integration-tests/token.py spec/models/user_spec.rb spec/rails_helper.rb
        OrderIT.java OrderITCase.java AuthSpec.scala login-spec.js testdata/key.pem tests/Dockerfile tests/README.md
        database/factories/TokenFactory.php
        cypress/login.cy.ts login.e2e.ts fixtures/users.sql conftest.py tox.ini pytest.ini test-requirements.txt
        Button.snap login.feature tests.py test_token.py TestLogin.java __mocks__/auth.ts crates/x/tests/auth.rs
        Tests/AppTests/TokenTests.swift tests/secrets.py tests/test_secrets.yml tests/env.py tests/.environment
        tests/.envoy.yaml testdata/server.key
        """,
    "docs": """
        README.md README docs/auth.md docs/auth/login.rst auth/docs/session.adoc CHANGELOG.md LICENSE NOTICE.txt
        docs/index.html docs/style.css docs/logo.png docs/openapi.yaml doc/token.txt notes/session.md SECURITY.md
        releasenotes/notes/auth.yaml .changeset/token.md docs/requirements.in
        docs/secrets.md docs/credentials.rst docs/secrets.txt docs/env.yml docs/.environment docs/.envoy.yaml
        docs/secrets-management.yml docs/password.png
        """,
    "none": """
        src/main.py author.ts tokenizer.py seedling.ts decompose.py AuthorController.java authority.go
        src/lexer/token.go parser/Token.java design-tokens.json token_count.py max_tokens.py src/nlp/tokens.py
        compose.ts app/ui/compose/Screen.kt random_seed.py fuzz/seed.c HttpEntity.java html_entities.py
        SessionWindow.java
        live_migration.py spark_session.py latest.py contest.ts attest.go fastest.rs PodSpec.ts spec/openapi.yaml
        docs/conf.py docs/example.js .environment src/environment.ts environments/prod.ts keyboard.ts monkey.py
        app/vendor/shapes.py src/vendors.ts secretary.py helmet.js deployed.txt2 invite.ts dockside.py schematic.ts
        passwordless_is_one_word.md5 TestFlight.swift testnet.ts PostIt.java build/x.c libs/components.ts notes.txt
        Enemies/SecurityGuard.cs npcs/secret_agent.lua Prefabs/TokenPickup.prefab img/credentials.webp
        app/models/order.rb
        ios/Assets.xcassets/keychain.imageset/Contents.json src/audio/session_mixer.cpp bird_migration.py
        SessionSchedule.kt src/charts/bar.ts traits/has_member.hpp src/charts/options.json login.svg
        gitlab_repo.php data/plot.py tasks/clean.ts widgets/entity_list.py
        data.json logo.png accelerate.py entitled.py migratory.py repositoryless.go loginless.ts logical.py
        """,
}
CASES = [(path, surface) for surface, text in HITS.items() for path in text.split()]


@pytest.mark.parametrize(("path", "surface"), CASES, ids=[path for path, _ in CASES])
def test_a_path_is_on_its_surface(path, surface):
    hit = Classifier(DEFAULT).hit(path)
    assert (hit.surface, hit.weight) == (surface, WEIGHTS[surface]), hit.why


SAMPLES = {
    NAME: "x/{}",
    HIDDEN: "x/.{}.zzz",
    STEM: "x/{}",
    FOLDER: "{}/x.zzz",
    FOLDER_LAST: "my-{}/x.zzz",
    ENDING: "x/y.{}",
    MIDDLE: "x/y.{}.zzz",
    FIRST: "x/{}_y.zzz",
    LAST: "x/y_{}.zzz",
    WORD: "x/y_{}_z.zzz",
    START: "x/{}service.zzz",
}


def sample(how, value):
    path = SAMPLES[how].format(value.lstrip("/"))
    ending = next(iter(sorted(DEFAULT.limits.get((how, value), ()))), "zzz")
    path = f"y/{value}.local" if value.startswith(".") and how == WORD else path
    return path.replace(".zzz", f".{ending}")


ENTRIES = [
    (surface, how, value)
    for surface, matchers in [*DEFAULT.surfaces.items(), *DEFAULT.winning.items()]
    for how, values in matchers.items()
    for value in sorted(values)
    if how != KIND
]


@pytest.mark.parametrize(("surface", "how", "value"), ENTRIES, ids=["-".join(entry) for entry in ENTRIES])
def test_no_entry_of_the_default_rules_is_dead(surface, how, value):
    hit = Classifier(DEFAULT).hit(sample(how, value))
    assert hit.surface == surface, hit.why


@pytest.mark.parametrize(("word", "contexts"), DEFAULT.unless.items())
def test_every_word_that_gives_another_sense_does(word, contexts):
    anywhere, near = contexts
    of = Classifier(DEFAULT).hit
    name = f"{word}.{min(DEFAULT.limits.get((WORD, word), {'zzz'}))}"
    assert of(f"a/{name}").weight >= 0.9
    assert all(of(f"{other}/b/{name}").surface in {"none", "ui"} for other in anywhere)
    assert all(of(f"a/{other}_{name}").weight < 0.9 and of(f"{other}/{name}").weight >= 0.9 for other in near)


@pytest.mark.parametrize("key", DEFAULT.limits, ids="-".join)
def test_a_limited_value_holds_on_its_endings_only(key):
    how, value = key
    limited = Classifier(DEFAULT).hit(sample(how, value))
    other = Classifier(DEFAULT).hit(sample(how, value).rpartition(".")[0] + ".zzz")
    assert limited.surface != other.surface
    assert other.surface == "none"


@pytest.mark.parametrize(
    ("kind", "surface"), [("submodule", "build"), ("symlink", "build"), ("repository", "build"), ("mode", "none")]
)
def test_submodules_and_links_count_in_every_folder(kind, surface):
    of = Classifier(DEFAULT).hit
    assert of("x/y", kind).surface == surface
    if surface != "none":
        assert [of(path, kind).surface for path in ("tests/x", "docs/x.md", "auth/x")] == ["build", "build", "auth"]
    assert Classifier(CLASSIC).hit("x/y", kind).surface == "none"


TABLE = {
    "auth": "auth login session token permission rbac credential secret",
    "data": "migration prisma schema .sql entity repository seed",
    "infra": "docker .woodpecker compose traefik deploy helm k8s terraform",
    "build": "package.json tsconfig turbo.json pnpm- .config. eslint vite",
    "ui": ".tsx .css components/ apps/web/",
    "test": ".spec. .test. __tests__/",
    "docs": ".md docs/",
}
FRAGMENTS = [(fragment, surface) for surface, text in TABLE.items() for fragment in text.split()]


@pytest.mark.parametrize(("fragment", "surface"), FRAGMENTS)
@pytest.mark.parametrize("form", ["{}", "x/y{}z", "x/{}z/w", "X/{}"])
def test_classic_is_the_table_to_the_letter(fragment, surface, form):
    of = Classifier(CLASSIC).hit
    path = form.format(fragment)
    if path.endswith("/"):
        path += "q"
    assert of(path).surface == surface
    assert of(path.upper()).surface == surface
    assert of(path.replace("/", "\\")).surface == surface


@pytest.mark.parametrize(
    ("path", "surface"),
    [("author.ts", "auth"), ("tokenizer.py", "auth"), ("decompose.py", "infra"), ("tests/test_auth.py", "auth"),
     ("docs/auth.md", "auth"), ("src/main.py", "none"), ("tests/x.py", "none"), ("a.test.tsx", "ui"),
     ("components.ts", "none"), ("SE\u017f\u017fION", "none"), ("to\u212aen", "none")],
)  # fmt: skip
def test_classic_matches_anywhere_and_ascii_only(path, surface):
    assert Classifier(CLASSIC).hit(path).surface == surface


def test_classic_has_nothing_but_the_table():
    assert {surface: " ".join(text.split()) for surface, text in TABLE.items()}.keys() == CLASSIC.surfaces.keys()
    assert all(CLASSIC.surfaces[surface] == {FRAGMENT: frozenset(text.split())} for surface, text in TABLE.items())
    assert CLASSIC.size is None


def test_both_sets_have_the_weights_of_the_contract():
    contract = {"auth": 1.0, "data": 0.9, "infra": 0.85, "build": 0.6, "ui": 0.4, "test": 0.2, "docs": 0.1, "none": 0.0}
    assert CLASSIC.weights == DEFAULT.weights == contract
    assert tuple(contract) == SURFACES
