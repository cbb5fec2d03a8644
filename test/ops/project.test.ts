import { expect } from 'chai';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { VERSION } from '../../infrastructure/composition/version.ts';
import { environmentLayer, readSettings } from '../../infrastructure/configuration/read-settings.ts';
import { SETTINGS } from '../../infrastructure/configuration/settings/index.ts';
import { startupRefusals } from '../../infrastructure/configuration/startup-refusals.ts';
import { ownFiles, textOf } from '../support/own-files.ts';

type Environment = Readonly<Record<string, string>>;
type Container = { name: string; env?: { name: string; value: string }[]; securityContext: Record<string, unknown> };
type Manifest = {
  kind: string;
  metadata: { name: string };
  data?: Environment;
  resources?: string[];
  spec: { template: { spec: { containers: Container[]; securityContext: Record<string, unknown> } } };
};

type PackageManifest = {
  name: string;
  version: string;
  workspaces?: string[];
  dependencies?: Record<string, string>;
};
type LockedPackage = Partial<PackageManifest> & { link?: boolean; resolved?: string; integrity?: string };
type LockFile = { packages: Record<string, LockedPackage> };

const KNOWN = new Set(Object.values(SETTINGS).map(({ name }) => name));
const SECRET = '5f0e8a1c9b2d4736f1e0a9d8c7b6a5948372615f4e3d2c1b0a9f8e7d6c5b4a39';
/** The secrets that `make-secrets.sh` writes. */
const SECRETS: Environment = {
  JWT_SECRET: SECRET,
  ENCRYPTION_KEY: SECRET.toUpperCase(),
  API_KEY_PEPPER: SECRET,
  SVC_AUDIT_HMAC_KEY: SECRET,
  SVC_SETUP_TOKEN: SECRET,
  METRICS_TOKEN: SECRET,
  POSTGRES_PASSWORD: SECRET,
};

describe('the deployment files', () => {
  describe('the compose file', () => {
    const compose = parse(readFileSync('ops/compose.yaml', 'utf8'), { merge: true }) as {
      services: Record<string, { image: string; environment?: Environment; read_only?: boolean }>;
      volumes: object;
    };
    const ours = Object.values(compose.services).filter(({ image }) => image === 'palimpsest');

    it('starts processes for all roles', () => {
      expect(ours.flatMap(({ environment }) => (environment?.['SVC_ROLES'] ?? '').split(',')).toSorted()).to.deep.equal(
        ['api', 'projector', 'relay', 'scheduler', 'worker'],
      );
    });

    it('sets only existing settings, with values that production accepts', () => {
      for (const { environment = {} } of ours) expect(problemsOf(interpolated(environment))).to.deep.equal([]);
    });

    it('requires only secrets that make-secrets.sh generates', () => {
      const made = [...readFileSync('ops/docker/make-secrets.sh', 'utf8').matchAll(/^([A-Z_]+)=\$\(secret\)$/gm)].map(
        ([, name]) => name,
      );
      const asked = [...readFileSync('ops/compose.yaml', 'utf8').matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name);
      expect(made).to.include.members(asked);
      expect(made).to.have.members(Object.keys(SECRETS));
    });
  });

  describe('the Kubernetes manifests', () => {
    const folder = 'ops/kubernetes';
    const manifests = readdirSync(folder)
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) =>
        parseAllDocuments(readFileSync(`${folder}/${name}`, 'utf8')).map((document) => ({
          name,
          errors: document.errors,
          manifest: document.toJS() as Manifest,
        })),
      );
    const deployments = manifests.flatMap(({ manifest }) => (manifest.kind === 'Deployment' ? [manifest] : []));
    const config = manifests.find(({ manifest }) => manifest.kind === 'ConfigMap')?.manifest.data ?? {};

    it('are valid YAML and all part of the kustomization', () => {
      expect(manifests.flatMap(({ errors }) => errors)).to.deep.equal([]);
      const applied = manifests.find(({ manifest }) => manifest.kind === 'Kustomization')?.manifest.resources ?? [];
      expect(new Set([...applied, 'kustomization.yaml'])).to.deep.equal(new Set(manifests.map(({ name }) => name)));
    });

    it('set only existing settings, with values that production accepts', () => {
      expect(deployments).to.have.length(4);
      const added = {
        ...SECRETS,
        DATABASE_URL: 'postgres://palimpsest:x@db/palimpsest',
        EVENT_STORE_URL: 'esdb+discover://palimpsest:x@events:2113?tls=true',
      };
      for (const { spec } of deployments) {
        const own = Object.fromEntries(
          (spec.template.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]),
        );
        expect(problemsOf({ ...config, ...own, ...without(added, 'POSTGRES_PASSWORD') })).to.deep.equal([]);
      }
    });

    it('run without root, without privilege escalation and with a read-only root file system', () => {
      for (const { spec } of deployments) {
        expect(spec.template.spec.securityContext).to.include({
          runAsNonRoot: true,
          fsGroupChangePolicy: 'OnRootMismatch',
        });
        for (const container of spec.template.spec.containers)
          expect(container.securityContext).to.include({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
          });
      }
    });
  });

  describe('the image', () => {
    const stages = readFileSync('ops/Dockerfile', 'utf8')
      .split(/^(?=FROM )/m)
      .slice(1);

    it('is built in one stage and runs in another', () => {
      expect(stages).to.have.length(2);
      expect(stages[0]).to.match(/^FROM node:24\S* AS build$/m);
      expect(stages[1])
        .to.match(/^FROM node:24\S*$/m)
        .and.to.contain('COPY --from=build');
    });

    it('does not run as root', () => {
      expect([...(stages[1] ?? '').matchAll(/^USER (\S+)$/gm)].at(-1)?.[1]).to.equal('node');
    });

    it('is built without secrets and git history', () => {
      expect(readFileSync('.dockerignore', 'utf8').split('\n')).to.include.members([
        '.git',
        'ops/.env',
        'node_modules',
      ]);
    });
  });

  it('documents of operations name no setting that does not exist', () => {
    const others = /^(OTEL_|TEST_|POSTGRES_|KAFKA_(VERSION)|JAVA_HOME|SIGTERM|SIGKILL)/;
    for (const file of ownFiles().filter((path) => /^((ops|docs)\/.*|README|SECURITY)\.md$/.test(path))) {
      const named = readFileSync(file, 'utf8').match(/\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b(?!=)/g) ?? [];
      expect(
        named.filter((name) => !KNOWN.has(name) && !others.test(name)),
        file,
      ).to.deep.equal([]);
    }
  });
});

describe('the project', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const workspaces = manifestOf('.').workspaces ?? [];

  it('has an executable script for continuous integration', () => {
    expect(statSync('.ci/run').mode & 0o111).to.equal(0o111);
  });

  it('has a lock file that any registry mirror can serve', () => {
    for (const [path, { version, link, resolved, integrity }] of Object.entries(lock.packages)) {
      const isRegistryPackage = path.startsWith('node_modules/') || path.includes('/node_modules/');
      // An entry without a version, left by a registry that lacks an optional package, makes `npm ci` refuse the file.
      if (link !== true) expect(version, path).to.be.a('string');
      // A workspace is a link to its folder; everything else is resolved by name and version at install time.
      if (link === true) expect(workspaces, path).to.include(resolved);
      else expect(resolved, path).to.equal(undefined);
      if (isRegistryPackage && link !== true) expect(integrity, path).to.be.a('string');
    }
  });

  it('locks every workspace as its manifest states', () => {
    expect(workspaces).to.deep.equal(['api/client']);
    for (const workspace of workspaces) {
      const { name, version, dependencies = {} } = manifestOf(workspace);
      expect(lock.packages[workspace]).to.include({ name, version });
      expect(lock.packages[workspace]?.dependencies ?? {}).to.deep.equal(dependencies);
      expect(lock.packages[`node_modules/${name}`]).to.deep.equal({ resolved: workspace, link: true });
    }
  });

  it('has one version', () => {
    expect([manifestOf('.').version, manifestOf('api/client').version]).to.deep.equal([VERSION, VERSION]);
  });

  it('ships a client package without dependencies', () => {
    const client = manifestOf('api/client');
    expect(client.name).to.equal('@palimpsest/client');
    expect(client).to.not.have.any.keys('dependencies', 'peerDependencies', 'optionalDependencies', 'devDependencies');
  });

  it('does not mention package registries, paths of a machine or its makers', () => {
    // Assembled from parts, so that this file does not contain them.
    const hosts = [
      ['registry', 'npmjs', 'org'],
      ['registry', 'yarnpkg', 'com'],
      ['repo', 'maven', 'apache', 'org'],
      ['pypi', 'org'],
      ['proxy', 'golang', 'org'],
    ].map((parts) => parts.join('\\.'));
    const folders = ['work', 'root', 'home/[a-z]+'].map((folder) => `(?<![\\w.~*-])/${folder}/`);
    const makers = [
      'clau' + 'de',
      'anthro' + 'pic',
      'open' + 'ai',
      'chat' + 'gpt',
      'co' + 'pilot',
      'L' + 'LM',
      'sub-?' + 'agent',
    ].map((word) => `\\b${word}s?\\b`);
    const unwanted = new RegExp([...hosts, ...folders, ...makers].join('|'), 'i');
    const found = ownFiles().flatMap((path) => {
      const match = /\.(png|ico|wasm)$/.test(path) ? null : unwanted.exec(textOf(path));
      return match ? [`${path}: ${match[0]}`] : [];
    });
    expect(found).to.deep.equal([]);
  });
});

/** Environment variables that the OpenTelemetry SDK reads. */
const OPEN_TELEMETRY = /^OTEL_/;

/** Unknown variables of an environment, and the problems that prevent a start in production. */
function problemsOf(environment: Environment): readonly string[] {
  const unknown = Object.keys(environment).filter((name) => !KNOWN.has(name) && !OPEN_TELEMETRY.test(name));
  const { settings, problems } = readSettings([environmentLayer(environment)]);
  return [
    ...unknown,
    ...[...problems, ...startupRefusals(settings, { signingKeyMode: 0o600 })].map(
      ({ variable, remedy }) => `${variable}: ${remedy}`,
    ),
  ];
}

/** Replaces the variables of compose: `${NAME:?message}` and `${NAME:-default}`. */
function interpolated(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replaceAll(
        /\$\{([A-Z_]+):([?-])([^}]*)\}/g,
        (_, variable: string, kind: string, rest: string) => SECRETS[variable] ?? (kind === '-' ? rest : ''),
      ),
    ]),
  );
}

function manifestOf(folder: string): PackageManifest {
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as PackageManifest;
}

function without(environment: Environment, dropped: string): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name !== dropped));
}
