FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
COPY workers ./workers
RUN node node_modules/typescript/bin/tsc -p .

FROM node:22-bookworm-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:22-bookworm-slim
# decodes audio
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY proto ./proto
COPY src/guard-server/weights ./src/guard-server/weights
COPY --from=dependencies /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
# A new volume takes the owner of the folder that it covers.
RUN mkdir -p /data/runs && chown -R node:node /data
USER node
# Without --out a run directory is made in ./runs.
WORKDIR /data
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["--help"]
